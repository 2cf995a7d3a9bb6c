// The random draws of the steps on audio: pure functions of the key, the step's number and lengths.
// The order of the draws within a step is part of the contract (golden tests).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "augment/draws.h"
#include "echoline/shm/sample_random.h"

namespace echoline::augment {

// The first sample of a crop that is `excess` samples shorter than the audio. Draws only if there
// is a choice.
std::uint32_t audio_crop_start(const UseKey& key, std::uint8_t step, std::uint32_t excess);

// A value in `range`, uniform; nothing with probability 1 - `probability`. Draws whether, then the
// value.
std::optional<double> decibel_draw(SampleRandom& random, const Range& range, double probability);

// Fills `noise` with normal values, two for each two draws (Box and Muller, 1958).
void normal_draws(SampleRandom& random, std::span<float> noise);

// Elements [first, first + length).
struct Mask {
  std::uint32_t first = 0;
  std::uint32_t length = 0;
};

// A mask of 0 to `width` of `size` elements, width <= size. Draws the length, then the place.
Mask mask_draw(SampleRandom& random, std::uint32_t width, std::uint32_t size);

}  // namespace echoline::augment
