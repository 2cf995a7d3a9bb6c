// The header of a .npy file: what numpy.save writes before the elements.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "decode/sample.h"

namespace echoline::decode {

struct NpyHeader {
  shm::DType dtype = shm::kUint8;
  Shape shape;
  std::size_t bytes = 0;  // of the header; the elements follow
};

bool is_npy(std::span<const std::byte> file);

// Versions 1 to 3, little-endian, C order. Errors: kDataLoss a header that makes no sense,
// kInvalidArgument a type or order that is not read.
Result<NpyHeader> read_npy_header(std::span<const std::byte> file);

}  // namespace echoline::decode
