// Unpacks a gzip or zstd stream piece by piece, in memory that does not grow with it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/status.h"

namespace echoline::record {

// Streams of several members or frames, one after another, are one. Single-threaded.
class Unpacker {
 public:
  // By the stream's first bytes. kUnimplemented for what is packed otherwise or not at all.
  static Result<std::unique_ptr<Unpacker>> make(std::span<const std::byte> head);
  virtual ~Unpacker() = default;

  // Takes bytes off `in`, fills `out` from its start and returns how many bytes it wrote. Less than
  // all of `out` means that all of `in` is used up. kDataLoss for damage, found by checksums too.
  virtual Result<std::size_t> unpack(std::span<const std::byte>& in, std::span<std::byte> out) = 0;
  // Whether the stream may end here.
  virtual bool complete() const = 0;
};

}  // namespace echoline::record
