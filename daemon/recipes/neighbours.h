// Operations on a pixel and its neighbours. `out` gets dense pixels and must not overlap the
// input.
#pragma once

#include <cstdint>
#include <vector>

#include "recipes/pixels.h"

namespace echoline::recipes {

constexpr std::uint32_t kBlurSizeMax = 255;

// ImageEnhance.Sharpness of Pillow: factor 0 is a smooth picture, 1 the same, 2 a sharper one. The
// pixels of the border stay as they are.
void adjust_sharpness(const Pixels& in, float factor, std::uint8_t* out);

// torchvision's gaussian_blur: a kernel of size x size pixels, `size` odd and at most
// kBlurSizeMax, `sigma` above 0. The picture is reflected at its edges. `lines` is reusable memory.
void gaussian_blur(const Pixels& in, std::uint32_t size, double sigma, std::vector<float>& lines,
                   std::uint8_t* out);

}  // namespace echoline::recipes
