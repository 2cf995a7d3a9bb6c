// Operations that replace each value by another one, with the results of Pillow's ImageOps. In
// place, on dense pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echoline::recipes {

void invert(std::span<std::uint8_t> pixels);
// Inverts values that are not below the threshold.
void solarize(std::span<std::uint8_t> pixels, double threshold);
// Keeps the highest `bits` bits, 0 to 8.
void posterize(std::span<std::uint8_t> pixels, int bits);
// Stretches each channel to 0 to 255.
void autocontrast(std::span<std::uint8_t> pixels, std::size_t channels);
// Gives each channel an even histogram.
void equalize(std::span<std::uint8_t> pixels, std::size_t channels);
// Gray, in all three channels; pictures of one channel stay as they are.
void make_gray(std::span<std::uint8_t> pixels, std::size_t channels);

}  // namespace echoline::recipes
