#include "decode/colors.h"

namespace echoline::decode {
namespace {

// a * b / 255, rounded; exact for values up to 255 (Pillow's MULDIV255).
inline int multiply_255(int a, int b) {
  const int product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

}  // namespace

void rgb_to_gray(const std::uint8_t* rgb, std::size_t pixels, std::uint8_t* out) {
  for (std::size_t i = 0; i < pixels; ++i) {
    out[i] = luma(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
  }
}

void inverted_cmyk_to_rgb(const std::uint8_t* cmyk, std::size_t pixels, std::uint8_t* out) {
  for (std::size_t i = 0; i < pixels; ++i) {
    const int white = cmyk[4 * i + 3];
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const int ink = 255 - cmyk[4 * i + channel];
      out[3 * i + channel] = static_cast<std::uint8_t>(white - multiply_255(ink, white));
    }
  }
}

}  // namespace echoline::decode
