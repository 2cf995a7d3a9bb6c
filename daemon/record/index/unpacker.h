// Unpacks a compressed stream piece by piece, in bounded memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/status.h"
#include "record/index/compression.h"

namespace echoline::record {

// A stream may have several members or frames. Single-threaded.
class Unpacker {
 public:
  // `head`: the first bytes of the stream; they decide for kByContent. kUnimplemented for other
  // compression or none, and for a stream that needs a window of more than 8 MiB.
  static Result<std::unique_ptr<Unpacker>> make(std::span<const std::byte> head,
                                                Compression compression = Compression::kByContent);
  virtual ~Unpacker() = default;

  // Takes bytes off `in`, fills `out` from its start and returns how many bytes it wrote. If that
  // is less than all of `out`, `in` is used up. kDataLoss for damage, including wrong checksums.
  virtual Result<std::size_t> unpack(std::span<const std::byte>& in, std::span<std::byte> out) = 0;
  // Whether the stream can end here.
  virtual bool complete() const = 0;
};

}  // namespace echoline::record
