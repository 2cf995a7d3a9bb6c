// The filter of a resize along one axis, as Pillow's antialiased resampling defines it: which
// source pixels each output pixel is made of, and with which weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace echoline::augment {

enum class Filter : std::uint8_t { kBilinear, kBicubic };

// Fixed point of the weights: an output is (2^21 + sum of weight * pixel) >> 22, clamped to a byte.
inline constexpr int kWeightBits = 22;

// Output i is made of `count` source pixels from `first` on; their weights are values[i * stride
// ...].
struct Taps {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// Reused from image to image.
struct Weights {
  std::vector<Taps> taps;
  std::vector<std::int32_t> values;
  std::size_t stride = 0;
  std::vector<double> exact;  // of the output being computed

  std::span<const std::int32_t> of(std::size_t output) const {
    return {values.data() + output * stride, taps[output].count};
  }
};

// For `in` pixels made into `out`: the filter's support grows with in / out when that is above 1.
void compute_weights(Filter filter, std::uint32_t in, std::uint32_t out, Weights& weights);

// The same filter on a source that is read from its far end: exactly what a flip before would give.
void mirror_source(std::uint32_t in, Weights& weights);

// The outputs in reverse order: exactly what a flip after would give.
void mirror_outputs(Weights& weights);

}  // namespace echoline::augment
