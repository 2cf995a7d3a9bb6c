// How a picture is cut into MCUs and blocks: ITU-T T.81, A.1.1 and A.2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "jpeg/markers.h"

namespace echoline::jpeg {

inline constexpr std::uint32_t kBlockSide = 8;

// Pixels [top, top + height) x [left, left + width).
struct Window {
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
};

// `horizontal` and `vertical` are the pixels for one sample of chroma, which are also the columns
// and rows of luma blocks in an MCU (H1 and V1 of A.1.1). Chroma has one block in each.
struct Geometry {
  std::uint32_t horizontal = 1;
  std::uint32_t vertical = 1;
  std::uint32_t mcu_columns = 0;
  std::uint32_t mcu_rows = 0;
  std::uint32_t chroma_height = 0;  // samples that count; the encoder's padding follows
  std::uint32_t chroma_width = 0;
};

inline std::uint32_t divide_up(std::uint32_t value, std::uint32_t by) {
  return (value + by - 1) / by;
}

inline Geometry geometry_of(const Header& header) {
  const Component& first = header.components[0];
  Geometry geometry;
  geometry.horizontal = first.horizontal;
  geometry.vertical = first.vertical;
  geometry.mcu_columns = divide_up(header.width, kBlockSide * geometry.horizontal);
  geometry.mcu_rows = divide_up(header.height, kBlockSide * geometry.vertical);
  geometry.chroma_height = divide_up(header.height, geometry.vertical);
  geometry.chroma_width = divide_up(header.width, geometry.horizontal);
  return geometry;
}

// Blocks that have pixels, without those that only fill MCUs.
inline std::uint64_t block_count(const Header& header) {
  const Geometry geometry = geometry_of(header);
  const auto blocks = [](std::uint32_t height, std::uint32_t width) {
    return std::uint64_t{divide_up(height, kBlockSide)} * divide_up(width, kBlockSide);
  };
  const std::uint64_t luma = blocks(header.height, header.width);
  const std::uint64_t chroma = blocks(geometry.chroma_height, geometry.chroma_width);
  return luma + (header.component_count - 1) * chroma;
}

}  // namespace echoline::jpeg
