// Converts pixels between colour models, with the arithmetic of Pillow's convert().
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::decode {

// Luma of ITU-R BT.601 (0.299 R + 0.587 G + 0.114 B) in 16-bit fixed point, rounded.
inline std::uint8_t luma(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  return static_cast<std::uint8_t>((red * 19595U + green * 38470U + blue * 7471U + 0x8000U) >> 16);
}

// `out` may be `rgb`.
void rgb_to_gray(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out);

// CMYK as in JPEG files, where Adobe's convention is that 255 means no ink. `out` may be `cmyk`.
void inverted_cmyk_to_rgb(const std::uint8_t* cmyk, std::size_t pixels, std::uint8_t* out);

}  // namespace echoline::decode
