// Brightness, contrast, saturation and hue of uint8 pixels, with the arithmetic of Pillow's
// ImageEnhance and HSV conversion, which torchvision's ColorJitter uses. In place; factors are at
// least 0, and 1 changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "augment/draws.h"

namespace echoline::augment {

// Factor 0 is black.
void adjust_brightness(std::uint8_t* pixels, std::size_t bytes, float factor);
// Factor 0 is the mean gray of the image.
void adjust_contrast(std::uint8_t* pixels, std::size_t count, std::uint32_t channels, float factor);
// Factor 0 is each pixel's own gray. Does not change gray images.
void adjust_saturation(std::uint8_t* pixels, std::size_t count, std::uint32_t channels,
                       float factor);
// Rotates the hue by `share` of the circle, -0.5 to 0.5. Does not change gray images.
void adjust_hue(std::uint8_t* pixels, std::size_t count, std::uint32_t channels, double share);
// One of these four, of `count` pixels; `factor` is the share for the hue.
void adjust(Jitter kind, double factor, std::uint8_t* pixels, std::size_t count,
            std::uint32_t channels);

}  // namespace echoline::augment
