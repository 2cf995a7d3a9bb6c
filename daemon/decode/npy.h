// The header of a .npy file, which numpy.save writes before the elements (NEP 1).
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

// Reads versions 1 to 3, little-endian, C order. Errors: kDataLoss for an invalid header,
// kInvalidArgument for an element type or order that is not supported.
Result<NpyHeader> read_npy_header(std::span<const std::byte> file);

}  // namespace echoline::decode
