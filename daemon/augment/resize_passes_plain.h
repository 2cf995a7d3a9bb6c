// The resize's inner loops in plain C++. They are inlined into functions for different CPUs, for
// which the compiler can vectorise them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "augment/resize_weights.h"

namespace echoline::augment {

inline constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);
inline constexpr std::size_t kBlock =
    256;  // columns of a vertical step: its sums stay in the cache

[[gnu::always_inline]] inline std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

template <std::size_t kChannels>
[[gnu::always_inline]] inline void plain_row(const std::uint8_t* row, const Weights& weights,
                                             std::uint8_t* out) {
  const std::int32_t* values = weights.values.data();
  for (const Taps& taps : weights.taps) {
    std::int32_t sums[kChannels];
    for (std::size_t c = 0; c < kChannels; ++c) sums[c] = kHalf;
    const std::uint8_t* pixel = row + taps.first * kChannels;
    for (std::uint32_t k = 0; k < taps.count; ++k, pixel += kChannels) {
      for (std::size_t c = 0; c < kChannels; ++c) sums[c] += values[k] * pixel[c];
    }
    for (std::size_t c = 0; c < kChannels; ++c) *out++ = to_byte(sums[c]);
    values += weights.stride;
  }
}

// One output row of the vertical pass, at most kBlock bytes of it.
[[gnu::always_inline]] inline void plain_block(const std::uint8_t* rows, std::size_t stride,
                                               std::size_t bytes, const std::int32_t* values,
                                               std::size_t count, std::uint8_t* out) {
  // Row by row over a whole block, so that the compiler vectorises the inner loop.
  std::int32_t sums[kBlock];
  for (std::size_t x = 0; x < bytes; ++x) sums[x] = kHalf;
  for (std::size_t k = 0; k < count; ++k, rows += stride) {
    const std::int32_t weight = values[k];
    for (std::size_t x = 0; x < bytes; ++x) sums[x] += weight * rows[x];
  }
  for (std::size_t x = 0; x < bytes; ++x) out[x] = to_byte(sums[x]);
}

}  // namespace echoline::augment
