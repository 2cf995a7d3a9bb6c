// The filter of a resize along one axis, as defined by Pillow's antialiased resampling
// (Resample.c): the source pixels of each output pixel, and their weights.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace echoline::augment {

enum class Filter : std::uint8_t { kBilinear, kBicubic };

// The weights are fixed-point: an output is (2^21 + sum of weight * pixel) >> 22, clamped to a
// byte.
inline constexpr int kWeightBits = 22;

// [begin, begin + length) of an axis, in fractions of pixels.
struct Extent {
  double begin = 0;
  double length = 0;
};

// One axis of a resize: `in` pixels become `out`, of which [first, first + count) are made.
struct Axis {
  std::uint32_t in = 0;
  std::uint32_t out = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  // What the outputs cover, if that is not just the `in` pixels. It may go beyond them.
  std::optional<Extent> extent = std::nullopt;

  bool resizes() const { return in != out || extent.has_value(); }
};

// All outputs of a resize of `in` pixels to `out`.
inline Axis whole_axis(std::uint32_t in, std::uint32_t out) { return {in, out, 0, out}; }

// The source pixels that an axis needs.
struct SourceRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
SourceRange source_range(Filter filter, const Axis& axis);

// Output i is a weighted sum of `count` source pixels, starting at `first`. Their weights start at
// values[i * stride].
struct Taps {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// Its buffers are reused from image to image.
struct Weights {
  std::vector<Taps> taps;
  std::vector<std::int32_t> values;
  std::size_t stride = 0;
  std::vector<double> exact;  // temporary: unrounded weights of one output

  std::span<const std::int32_t> of(std::size_t output) const {
    return {values.data() + output * stride, taps[output].count};
  }
};

// The weights of the axis's outputs; taps count from the first pixel of source_range. If in > out,
// the filter's support grows by in / out (antialiasing).
void compute_weights(Filter filter, const Axis& axis, Weights& weights);

// Changes the weights to read the source mirrored: the same result as a flip before the resize.
void mirror_source(std::uint32_t in, Weights& weights);

// Reverses the order of the outputs: the same result as a flip after the resize.
void mirror_outputs(Weights& weights);

}  // namespace echoline::augment
