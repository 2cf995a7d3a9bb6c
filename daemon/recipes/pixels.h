// Pixels of an image as uint8 [height, width, channels], whose rows are not always dense.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/image_reader.h"

namespace echoline::recipes {

using decode::ImageSize;

// 1 or 3 channels; 2 for the bytes of a mask with ids of 16 bits. Does not own the pixels.
struct Pixels {
  const std::uint8_t* data = nullptr;
  std::size_t stride = 0;  // bytes from row to row
  ImageSize size;
  std::uint32_t channels = 0;

  const std::uint8_t* row(std::size_t y) const { return data + y * stride; }
  std::size_t row_bytes() const { return std::size_t{size.width} * channels; }
};

}  // namespace echoline::recipes
