// Normalises rows with vector instructions, where a look-up for each value would be slow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace echoline::augment {

// (value / 255 - mean) / deviation, with two products in place of each division: the reciprocals
// have a second float for what the first one lacks.
struct NormalizeSteps {
  // A loop takes three vectors at a time, so that each begins with the same channel.
  static constexpr std::size_t kPeriod = 3 * 16;
  using Constants = std::array<float, kPeriod>;

  Constants means{};
  Constants reciprocals{};  // of the deviations
  Constants rests{};
};

// The values of `expected`, bit for bit.
using NormalizedValues = std::array<float, 256>;

// Steps for interleaved channels, one to three of them, of which kPeriod is a multiple. Nothing if
// they would give another float for any value.
std::optional<NormalizeSteps> find_steps(std::span<const float> means,
                                         std::span<const float> deviations,
                                         std::span<const NormalizedValues> expected);

// Whether the CPU has what the loops need. Otherwise they must not be called.
bool has_normalize_loops();

// Normalises `count` values, to float32 or float16. `out` needs no alignment.
void normalize_row(const std::uint8_t* in, std::size_t count, const NormalizeSteps& steps,
                   float* out);
void normalize_row(const std::uint8_t* in, std::size_t count, const NormalizeSteps& steps,
                   std::uint16_t* out);

// Separates the channels of `count` pixels: channel c goes to out + c * stride. `stride` is at
// least `count`.
void split_channels(const std::uint8_t* rgb, std::size_t count, std::size_t stride,
                    std::uint8_t* out);

}  // namespace echoline::augment
