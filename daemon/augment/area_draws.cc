// The draws of random_erasing and gaussian_blur.
#include <cmath>

#include "augment/draws.h"

namespace echoline::augment {
namespace {

constexpr int kErasingTriesMax = 10;

// One try; nothing if the rectangle does not fit.
std::optional<Box> try_rectangle(SampleRandom& random, std::uint32_t height, std::uint32_t width,
                                 const Range& scale, const Range& ratio) {
  const double area = static_cast<double>(height) * width * uniform_in(random, scale[0], scale[1]);
  const double aspect = std::exp(uniform_in(random, std::log(ratio[0]), std::log(ratio[1])));
  const double high = std::nearbyint(std::sqrt(area * aspect));
  const double wide = std::nearbyint(std::sqrt(area / aspect));
  if (high >= height || wide >= width) return std::nullopt;
  Box box;
  box.height = static_cast<std::uint32_t>(high);
  box.width = static_cast<std::uint32_t>(wide);
  box.top = random.below(height - box.height + 1);
  box.left = random.below(width - box.width + 1);
  return box;
}

}  // namespace

bool chance_drawn(SampleRandom& random, double probability) {
  return random.uniform_double() < probability;
}

std::optional<Box> erased_box(const UseKey& key, std::uint8_t step, std::uint32_t height,
                              std::uint32_t width, double probability, const Range& scale,
                              const Range& ratio) {
  SampleRandom random(key, step);
  if (!chance_drawn(random, probability)) return std::nullopt;
  for (int i = 0; i < kErasingTriesMax; ++i) {
    const auto box = try_rectangle(random, height, width, scale, ratio);
    if (box) return box;
  }
  return std::nullopt;
}

std::optional<double> blur_sigma(const UseKey& key, std::uint8_t step, double probability,
                                 const Range& sigma) {
  SampleRandom random(key, step);
  if (!chance_drawn(random, probability)) return std::nullopt;
  return uniform_in(random, sigma[0], sigma[1]);
}

}  // namespace echoline::augment
