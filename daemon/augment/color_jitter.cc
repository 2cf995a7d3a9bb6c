#include "augment/color_jitter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "decode/colors.h"
#include "recipes/blend.h"

namespace echoline::augment {
namespace {

using recipes::blend;
using Table = std::array<std::uint8_t, 256>;

void apply(const Table& table, std::uint8_t* pixels, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) pixels[i] = table[pixels[i]];
}

Table blend_table(int from, float factor) {
  Table table;
  for (int i = 0; i < 256; ++i) table[static_cast<std::size_t>(i)] = blend(from, i, factor);
  return table;
}

// The mean gray value, rounded, as ImageEnhance.Contrast computes it.
int mean_gray(const std::uint8_t* pixels, std::size_t count, std::uint32_t channels) {
  std::uint64_t sum = 0;
  if (channels == 1) {
    for (std::size_t i = 0; i < count; ++i) sum += pixels[i];
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      sum += decode::luma(pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]);
    }
  }
  return static_cast<int>(static_cast<double>(sum) / static_cast<double>(count) + 0.5);
}

std::uint8_t clip(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

// Hue, saturation and value, each as a byte.
struct Hsv {
  std::uint8_t hue;
  std::uint8_t saturation;
  std::uint8_t value;
};

// The conversions are those of Pillow's Convert.c (rgb2hsv_row, hsv2rgb), with its roundings and
// its mix of float and double. `sixths` is the hue in sixths of the circle.
Hsv to_hsv(const std::uint8_t* rgb) {
  const auto [least, greatest] = std::minmax({rgb[0], rgb[1], rgb[2]});
  if (least == greatest) return {0, 0, greatest};
  const auto range = static_cast<float>(greatest - least);
  const float red = static_cast<float>(greatest - rgb[0]) / range;
  const float green = static_cast<float>(greatest - rgb[1]) / range;
  const float blue = static_cast<float>(greatest - rgb[2]) / range;
  float sixths = blue - green;
  if (rgb[0] != greatest) {
    sixths = static_cast<float>(rgb[1] == greatest ? 2.0 + red - blue : 4.0 + green - red);
  }
  const auto turn = static_cast<float>(std::fmod(sixths / 6.0 + 1.0, 1.0));
  const float saturation = range / static_cast<float>(greatest);
  return {clip(static_cast<int>(turn * 255.0)), clip(static_cast<int>(saturation * 255.0)),
          greatest};
}

void to_rgb(const Hsv& hsv, std::uint8_t* rgb) {
  const std::uint8_t top = hsv.value;
  if (hsv.saturation == 0) {
    rgb[0] = rgb[1] = rgb[2] = top;
    return;
  }
  const float sixths = static_cast<float>(hsv.hue * 6.0 / 255.0);
  const float sector = std::floor(sixths);
  const float part = sixths - sector;
  const auto saturation = static_cast<float>(hsv.saturation / 255.0);
  const auto scaled = [top](double share) {
    return clip(static_cast<int>(std::round(top * share)));
  };
  const std::uint8_t low = scaled(1.0 - saturation);
  const std::uint8_t falling = scaled(1.0 - saturation * part);
  const std::uint8_t rising = scaled(1.0 - saturation * (1.0 - part));
  const std::array<std::uint8_t, 3> sectors[] = {{top, rising, low}, {falling, top, low},
                                                 {low, top, rising}, {low, falling, top},
                                                 {rising, low, top}, {top, low, falling}};
  std::copy_n(sectors[static_cast<int>(sector) % 6].data(), 3, rgb);
}

}  // namespace

void adjust_brightness(std::uint8_t* pixels, std::size_t bytes, float factor) {
  apply(blend_table(0, factor), pixels, bytes);
}

void adjust_contrast(std::uint8_t* pixels, std::size_t count, std::uint32_t channels,
                     float factor) {
  apply(blend_table(mean_gray(pixels, count, channels), factor), pixels, count * channels);
}

void adjust_saturation(std::uint8_t* pixels, std::size_t count, std::uint32_t channels,
                       float factor) {
  if (channels != 3) return;
  for (std::size_t i = 0; i < count; ++i, pixels += 3) {
    const int gray = decode::luma(pixels[0], pixels[1], pixels[2]);
    for (std::size_t c = 0; c < 3; ++c) pixels[c] = blend(gray, pixels[c], factor);
  }
}

void adjust_hue(std::uint8_t* pixels, std::size_t count, std::uint32_t channels, double share) {
  if (channels != 3) return;
  const auto turn =
      static_cast<std::uint8_t>(static_cast<int>(share * 255));  // wraps around, as in torchvision
  for (std::size_t i = 0; i < count; ++i, pixels += 3) {
    Hsv hsv = to_hsv(pixels);
    hsv.hue = static_cast<std::uint8_t>(hsv.hue + turn);
    to_rgb(hsv, pixels);
  }
}

void adjust(Jitter kind, double factor, std::uint8_t* pixels, std::size_t count,
            std::uint32_t channels) {
  const auto share = static_cast<float>(factor);
  switch (kind) {
    case Jitter::kBrightness:
      return adjust_brightness(pixels, count * channels, share);
    case Jitter::kContrast:
      return adjust_contrast(pixels, count, channels, share);
    case Jitter::kSaturation:
      return adjust_saturation(pixels, count, channels, share);
    case Jitter::kHue:
      return adjust_hue(pixels, count, channels, factor);
  }
}

}  // namespace echoline::augment
