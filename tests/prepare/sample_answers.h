// Samples and answers of preparation servers for the tests and the fuzzer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/crc.h"
#include "prepare/frame.h"

namespace echoline::prepare {

// A picture of any size, a label, a text of up to 40 bytes, and an array of one shape.
inline std::vector<decode::FieldType> sample_fields() {
  return {{.name = "image", .dtype = shm::kUint8, .image = true, .shape = {{0, 0, 3}, 3}},
          {.name = "label", .dtype = shm::kInt64, .fixed = true, .shape = {}},
          {.name = "text", .dtype = shm::kUint8, .ragged = true, .shape = {{40}, 1}},
          {.name = "values", .dtype = shm::kFloat32, .fixed = true, .shape = {{2, 3}, 2}}};
}

inline decode::Tensor tensor_of(shm::DType dtype, decode::Shape shape, std::uint8_t first) {
  decode::Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.bytes.resize(shape.elements() * shm::dtype_bytes(dtype));
  for (std::size_t i = 0; i < tensor.bytes.size(); ++i) {
    tensor.bytes.data()[i] = static_cast<std::byte>(first + i);
  }
  return tensor;
}

inline decode::Sample sample_of(std::uint8_t first) {
  decode::Sample sample;
  sample.tensors.push_back(tensor_of(shm::kUint8, {{5, 4, 3}, 3}, first));
  sample.tensors.push_back(tensor_of(shm::kInt64, {}, first));
  sample.tensors.push_back(tensor_of(shm::kUint8, {{7}, 1}, first));
  sample.tensors.push_back(tensor_of(shm::kFloat32, {{2, 3}, 2}, first));
  return sample;
}

inline std::vector<std::byte> joined(const Frame& frame) {
  std::vector<std::byte> bytes;
  for (const Frame::Part& part : frame.parts) {
    bytes.insert(bytes.end(), part.bytes.begin(), part.bytes.end());
  }
  return bytes;
}

// Writes the checksum that the frame's bytes have now.
inline void reseal(std::span<std::byte> frame) {
  if (frame.size() < kChecksummedFrom) return;
  const std::uint32_t crc = crc32c(0, frame.subspan(kChecksummedFrom));
  std::memcpy(frame.data() + 4, &crc, sizeof crc);
}

// A PrepareResponse with these frames.
inline std::vector<std::byte> answer_of(const std::vector<std::vector<std::byte>>& frames) {
  std::vector<std::byte> answer;
  for (const auto& frame : frames) {
    answer.push_back(std::byte{0x0a});
    std::size_t size = frame.size();
    for (; size >= 0x80; size >>= 7U) answer.push_back(static_cast<std::byte>(size | 0x80U));
    answer.push_back(static_cast<std::byte>(size));
    answer.insert(answer.end(), frame.begin(), frame.end());
  }
  return answer;
}

}  // namespace echoline::prepare
