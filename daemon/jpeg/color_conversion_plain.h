// YCbCr to RGB without vector instructions: the definition of jpeg/color_conversion.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace echoline::jpeg {

// Factors with 16 bits after the point.
struct ColorFactors {
  static constexpr std::int32_t kCrToRed = 91881;    // 1.402
  static constexpr std::int32_t kCbToGreen = 22554;  // 0.34414
  static constexpr std::int32_t kCrToGreen = 46802;  // 0.71414
  static constexpr std::int32_t kCbToBlue = 116130;  // 1.772
  static constexpr std::int32_t kHalf = 32768;
};

inline void ycbcr_to_rgb_plain(const std::uint8_t* y, const std::uint8_t* cb,
                               const std::uint8_t* cr, std::size_t count, std::uint8_t* rgb) {
  using F = ColorFactors;
  const auto clamped = [](std::int32_t v) {
    return static_cast<std::uint8_t>(std::clamp(v, 0, 255));
  };
  for (std::size_t i = 0; i < count; ++i, rgb += 3) {
    const std::int32_t blue = cb[i] - 128;
    const std::int32_t red = cr[i] - 128;
    rgb[0] = clamped(y[i] + ((F::kCrToRed * red + F::kHalf) >> 16));
    rgb[1] = clamped(y[i] + ((F::kHalf - F::kCbToGreen * blue - F::kCrToGreen * red) >> 16));
    rgb[2] = clamped(y[i] + ((F::kCbToBlue * blue + F::kHalf) >> 16));
  }
}

}  // namespace echoline::jpeg
