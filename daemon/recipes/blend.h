// Mixes two pixels, with the arithmetic of Pillow's ImageBlend.
#pragma once

#include <algorithm>
#include <cstdint>

namespace echoline::recipes {

// Interpolates from `from` (factor 0) to `to` (factor 1) and beyond. In float, clamped, then
// truncated.
inline std::uint8_t blend(int from, int to, float factor) {
  const float value = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
}

}  // namespace echoline::recipes
