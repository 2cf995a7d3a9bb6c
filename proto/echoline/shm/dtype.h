// Element types of tensors in shared memory. The values never change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace echoline::shm {

enum DType : std::uint32_t {
  kUint8 = 1,
  kInt8 = 2,
  kUint16 = 3,
  kInt16 = 4,
  kUint32 = 5,
  kInt32 = 6,
  kUint64 = 7,
  kInt64 = 8,
  kFloat16 = 9,
  kFloat32 = 10,
  kFloat64 = 11,
  kBfloat16 = 12,
};

// Bytes of one element; 0 if the value is not a DType.
constexpr std::size_t dtype_bytes(std::uint32_t dtype) {
  switch (dtype) {
    case kUint8:
    case kInt8:
      return 1;
    case kUint16:
    case kInt16:
    case kFloat16:
    case kBfloat16:
      return 2;
    case kUint32:
    case kInt32:
    case kFloat32:
      return 4;
    case kUint64:
    case kInt64:
    case kFloat64:
      return 8;
    default:
      return 0;
  }
}

// The name of the type in numpy; "" if the value is not a DType.
constexpr std::string_view dtype_name(std::uint32_t dtype) {
  switch (dtype) {
    case kUint8:
      return "uint8";
    case kInt8:
      return "int8";
    case kUint16:
      return "uint16";
    case kInt16:
      return "int16";
    case kUint32:
      return "uint32";
    case kInt32:
      return "int32";
    case kUint64:
      return "uint64";
    case kInt64:
      return "int64";
    case kFloat16:
      return "float16";
    case kFloat32:
      return "float32";
    case kFloat64:
      return "float64";
    case kBfloat16:
      return "bfloat16";
    default:
      return "";
  }
}

}  // namespace echoline::shm
