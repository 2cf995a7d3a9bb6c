// The draws of random_erasing and gaussian_blur.
#include "augment/draws.h"

namespace echoline::augment {
namespace {

constexpr int kErasingTriesMax = 10;

// One try; nothing if the rectangle does not fit.
std::optional<Box> try_rectangle(SampleRandom& random, std::uint32_t height, std::uint32_t width,
                                 const Range& scale, const Range& ratio) {
  const auto [high, wide] = sides_drawn(random, height, width, scale, ratio);
  if (high >= height || wide >= width) return std::nullopt;
  return box_drawn(random, height, width, high, wide);
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
