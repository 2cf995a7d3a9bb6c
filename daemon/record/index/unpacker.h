// Unpacks a gzip or zstd stream piece by piece, in bounded memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/status.h"

namespace echoline::record {

// A stream may have several members or frames. Single-threaded.
class Unpacker {
 public:
  // Chosen by the first bytes of the stream. kUnimplemented for other compression or none.
  static Result<std::unique_ptr<Unpacker>> make(std::span<const std::byte> head);
  virtual ~Unpacker() = default;

  // Takes bytes off `in`, fills `out` from its start and returns how many bytes it wrote. If that
  // is less than all of `out`, `in` is used up. kDataLoss for damage, including wrong checksums.
  virtual Result<std::size_t> unpack(std::span<const std::byte>& in, std::span<std::byte> out) = 0;
  // Whether the stream can end here.
  virtual bool complete() const = 0;
};

}  // namespace echoline::record
