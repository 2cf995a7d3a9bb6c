#include "augment/audio_draws.h"

#include <cmath>
#include <numbers>

namespace echoline::augment {

std::uint32_t audio_crop_start(const UseKey& key, std::uint8_t step, std::uint32_t excess) {
  if (excess == 0) return 0;
  return SampleRandom(key, step).below(excess + 1);
}

std::optional<double> decibel_draw(SampleRandom& random, const Range& range, double probability) {
  if (random.uniform_double() >= probability) return std::nullopt;
  return uniform_in(random, range[0], range[1]);
}

void normal_draws(SampleRandom& random, std::span<float> noise) {
  constexpr float kTurn = 2 * std::numbers::pi_v<float>;
  for (std::size_t i = 0; i < noise.size(); i += 2) {
    const float length = std::sqrt(-2 * std::log(1 - random.uniform()));  // of (0, 1]
    const float angle = kTurn * random.uniform();
    noise[i] = length * std::cos(angle);
    if (i + 1 < noise.size()) noise[i + 1] = length * std::sin(angle);
  }
}

Mask mask_draw(SampleRandom& random, std::uint32_t width, std::uint32_t size) {
  const std::uint32_t length = random.below(width + 1);
  return {random.below(size - length + 1), length};
}

}  // namespace echoline::augment
