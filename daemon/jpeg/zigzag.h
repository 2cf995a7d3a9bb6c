// The order of coefficients in the data: ITU-T T.81, A.3.6 (figure A.6).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "jpeg/markers.h"

namespace echoline::jpeg {

// From the zigzag order to the natural one, row by row. Numbers beyond the block, which damaged
// data has, go to a spare place behind it.
inline constexpr auto kNaturalOrder = [] {
  constexpr std::uint8_t kZigzag[kBlockSamples] = {
      0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
      41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
      30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
  std::array<std::uint8_t, 256> order{};
  order.fill(kBlockSamples);
  for (std::size_t i = 0; i < kBlockSamples; ++i) order[i] = kZigzag[i];
  return order;
}();

}  // namespace echoline::jpeg
