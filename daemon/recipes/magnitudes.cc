#include "recipes/magnitudes.h"

#include <cmath>

namespace echoline::recipes {
namespace {

// torch.linspace in float32: from both ends to the middle, each value rounded once. A translation
// is cut to whole pixels, so the last bit can matter.
double evenly(float first, float last, std::uint32_t index, std::uint32_t bins) {
  const float step = (last - first) / static_cast<float>(bins - 1);
  if (index < bins / 2) return static_cast<float>(first + double{step} * index);
  return static_cast<float>(last - double{step} * (bins - 1 - index));
}

// From 8 bits down by `lost`; a half is rounded to an even number.
double bits_left(double lost, std::uint32_t index, std::uint32_t bins) {
  const auto per_bit = static_cast<float>((bins - 1) / lost);
  return std::nearbyint(8.0F - static_cast<float>(index) / per_bit);
}

// The greatest magnitude, of those that begin at 0.
double greatest(Space space, Operation operation, const ImageSize& size) {
  const bool wide = space == Space::kWide;
  constexpr double kShare = 150.0 / 331.0;  // of a side; from the paper, for pictures of 331 pixels
  switch (operation) {
    case Operation::kShearX:
    case Operation::kShearY:
      return wide ? 0.99 : 0.3;
    case Operation::kTranslateX:
      return wide ? 32.0 : kShare * size.width;
    case Operation::kTranslateY:
      return wide ? 32.0 : kShare * size.height;
    case Operation::kRotate:
      return wide ? 135.0 : 30.0;
    default:
      return wide ? 0.99 : 0.9;  // brightness, colour, contrast, sharpness
  }
}

}  // namespace

bool has_direction(Operation operation) {
  return operation >= Operation::kShearX && operation <= Operation::kSharpness;
}

bool has_magnitude(Operation operation) {
  return has_direction(operation) || operation == Operation::kPosterize ||
         operation == Operation::kSolarize;
}

Change change_of(Space space, Operation operation, std::uint32_t index, std::uint32_t bins,
                 bool reverse, const ImageSize& size) {
  if (!has_magnitude(operation)) return {operation, 0};
  if (operation == Operation::kPosterize) {
    return {operation, bits_left(space == Space::kWide ? 6 : 4, index, bins)};
  }
  if (operation == Operation::kSolarize) return {operation, 255.0 * evenly(1, 0, index, bins)};
  const auto last = static_cast<float>(greatest(space, operation, size));
  const double magnitude = evenly(0, last, index, bins) * (reverse ? -1 : 1);
  switch (operation) {
    case Operation::kTranslateX:
    case Operation::kTranslateY:
      return {operation, std::trunc(magnitude)};
    case Operation::kShearX:
    case Operation::kShearY:
    case Operation::kRotate:
      return {operation, magnitude};
    default:
      return {operation, 1.0 + magnitude};
  }
}

}  // namespace echoline::recipes
