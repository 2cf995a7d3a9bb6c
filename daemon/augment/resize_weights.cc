#include "augment/resize_weights.h"

#include <algorithm>
#include <cmath>

namespace echoline::augment {
namespace {

// The filters, their supports and the loop in compute_weights follow Pillow's Resample.c, including
// its order of operations: the weights must be equal to the last bit.
double triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

// Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -0.5.
double cubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * kA;
  return 0.0;
}

double weight_at(Filter filter, double x) {
  return filter == Filter::kBilinear ? triangle(x) : cubic(x);
}

double support_of(Filter filter) { return filter == Filter::kBilinear ? 1.0 : 2.0; }

// Rounds half away from zero.
std::int32_t to_fixed(double weight) {
  const double scaled = weight * (1 << kWeightBits);
  return static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

// The place of an axis's filter for each output.
class Placement {
 public:
  Placement(Filter filter, const Axis& axis)
      : in_(static_cast<int>(axis.in)),
        begin_(axis.extent ? axis.extent->begin : 0),
        scale_((axis.extent ? axis.extent->length : static_cast<double>(axis.in)) / axis.out),
        stretch_(std::max(scale_, 1.0)),
        support_(support_of(filter) * stretch_) {}

  double stretch() const { return stretch_; }
  double support() const { return support_; }
  double centre(std::uint32_t output) const { return begin_ + (output + 0.5) * scale_; }
  // Truncated towards zero, then clipped, so that no tap is outside the source.
  int least(double centre) const { return std::max(0, static_cast<int>(centre - support_ + 0.5)); }
  int end(double centre) const { return std::min(in_, static_cast<int>(centre + support_ + 0.5)); }

 private:
  int in_;
  double begin_;
  double scale_;
  double stretch_;
  double support_;
};

}  // namespace

SourceRange source_range(Filter filter, const Axis& axis) {
  if (!axis.resizes()) return {axis.first, axis.count};
  const Placement place(filter, axis);
  const int least = place.least(place.centre(axis.first));
  const int end = place.end(place.centre(axis.first + axis.count - 1));
  return {static_cast<std::uint32_t>(least), static_cast<std::uint32_t>(end - least)};
}

void compute_weights(Filter filter, const Axis& axis, Weights& weights) {
  const Placement place(filter, axis);
  const double shrink = 1.0 / place.stretch();
  const int origin = static_cast<int>(source_range(filter, axis).first);
  weights.stride = static_cast<std::size_t>(std::ceil(place.support())) * 2 + 1;
  weights.taps.resize(axis.count);
  weights.values.resize(axis.count * weights.stride);
  weights.exact.resize(weights.stride);
  for (std::uint32_t i = 0; i < axis.count; ++i) {
    const double centre = place.centre(axis.first + i);
    const int least = place.least(centre);
    const std::size_t count = static_cast<std::size_t>(place.end(centre) - least);
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const double x = (static_cast<double>(k) + least - centre + 0.5) * shrink;
      sum += weights.exact[k] = weight_at(filter, x);
    }
    for (std::size_t k = 0; k < count; ++k) {
      const double normalised = sum == 0 ? weights.exact[k] : weights.exact[k] / sum;
      weights.values[i * weights.stride + k] = to_fixed(normalised);
    }
    weights.taps[i] = {static_cast<std::uint32_t>(least - origin),
                       static_cast<std::uint32_t>(count)};
  }
}

void mirror_source(std::uint32_t in, Weights& weights) {
  for (std::size_t i = 0; i < weights.taps.size(); ++i) {
    Taps& taps = weights.taps[i];
    taps.first = in - taps.first - taps.count;
    std::int32_t* values = weights.values.data() + i * weights.stride;
    std::reverse(values, values + taps.count);
  }
}

void mirror_outputs(Weights& weights) {
  std::reverse(weights.taps.begin(), weights.taps.end());
  const std::size_t count = weights.taps.size();
  for (std::size_t i = 0; i < count / 2; ++i) {
    std::int32_t* low = weights.values.data() + i * weights.stride;
    std::int32_t* high = weights.values.data() + (count - 1 - i) * weights.stride;
    std::swap_ranges(low, low + weights.stride, high);
  }
}

}  // namespace echoline::augment
