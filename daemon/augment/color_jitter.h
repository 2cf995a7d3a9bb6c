// Brightness, contrast, saturation and hue of uint8 pixels, with the arithmetic of Pillow's
// ImageEnhance and HSV conversion, which torchvision's ColorJitter uses. In place; factors are >=
// 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::augment {

// Towards black.
void adjust_brightness(std::uint8_t* pixels, std::size_t bytes, float factor);
// Towards the mean gray of the image.
void adjust_contrast(std::uint8_t* pixels, std::size_t count, std::uint32_t channels, float factor);
// Towards each pixel's own gray; gray images stay as they are.
void adjust_saturation(std::uint8_t* pixels, std::size_t count, std::uint32_t channels,
                       float factor);
// Turns the hue by `share` of the circle, -0.5 to 0.5; gray images stay as they are.
void adjust_hue(std::uint8_t* pixels, std::size_t count, std::uint32_t channels, double share);

}  // namespace echoline::augment
