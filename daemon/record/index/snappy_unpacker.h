// Unpacks Snappy's block format, of which a file is one block of any size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "record/index/unpacker.h"

namespace echoline::record {

// Single-threaded. Keeps the last 64 KiB: Snappy compresses pieces of this size, so copies reach
// back no further. kUnimplemented for a file of another writer in which they do.
class SnappyUnpacker final : public Unpacker {
 public:
  SnappyUnpacker() : history_(kHistoryBytes) {}
  bool complete() const override { return has_length_ && made_ == length_ && literal_ == 0; }
  Result<std::size_t> unpack(std::span<const std::byte>& in, std::span<std::byte> out) override;

 private:
  static constexpr std::size_t kHistoryBytes = 64 << 10;

  Status read_element(std::span<const std::byte>& in);
  Status read_length(std::byte next);
  Status start_element();
  void emit(std::byte byte, std::span<std::byte>& out);

  std::uint64_t length_ = 0;  // of the unpacked bytes
  bool has_length_ = false;
  std::array<std::byte, 5> head_{};  // of the next element, or the length
  std::size_t head_bytes_ = 0;
  std::uint64_t made_ = 0;     // bytes so far
  std::uint64_t literal_ = 0;  // left of the current element; one of both is 0
  std::uint64_t copy_ = 0;
  std::uint64_t distance_ = 0;      // of the copy
  std::vector<std::byte> history_;  // the byte at p is at p modulo its size
};

}  // namespace echoline::record
