// Moves the pixels of a picture by a matrix, as Pillow's Image.transform does.
#pragma once

#include <array>
#include <cstdint>

#include "recipes/pixels.h"

namespace echoline::recipes {

// x' = a x + b y + c, y' = d x + e y + f, in pixels; (0, 0) is the picture's top left corner, so
// pixels have their centres at halves. Functions that make one give the way from the result back
// to the source.
struct Affine {
  double a = 1, b = 0, c = 0;
  double d = 0, e = 1, f = 0;
};

// By the tangent of the angle; the top row, or the left column, stays where it is.
Affine shear_x(double tangent);
Affine shear_y(double tangent);
// To the right and down.
inline Affine translation(double x, double y) { return {.c = -x, .f = -y}; }
// Counter-clockwise around the centre.
Affine rotation(double degrees, const ImageSize& size);
// The way in the other direction. The matrices above all have one.
Affine inverse(const Affine& affine);

enum class Sampling : std::uint8_t { kNearest, kBilinear };

// How pixels between those of the source are made, and those outside it.
struct Resampling {
  Sampling sampling = Sampling::kNearest;
  std::array<std::uint8_t, 3> fill{};  // by channel
};

// Writes dense pixels of the same size to `out`, which must not overlap the source. `affine` is
// the way from the result to the source.
void transform(const Pixels& in, const Affine& affine, const Resampling& resampling,
               std::uint8_t* out);

}  // namespace echoline::recipes
