#include "audio/mel_bank.h"

#include <algorithm>
#include <cmath>

namespace echoline::audio {
namespace {

// Slaney's Auditory Toolbox: linear below 1000 Hz, logarithmic above.
constexpr double kLinearHz = 200.0 / 3;
constexpr double kBorderHz = 1000;
constexpr double kBorderMel = kBorderHz / kLinearHz;
const double kLogStep = std::log(6.4) / 27;

double mel_of(double hz, MelScale scale) {
  if (scale == MelScale::kHtk) return 2595 * std::log10(1 + hz / 700);
  if (hz < kBorderHz) return hz / kLinearHz;
  return kBorderMel + std::log(hz / kBorderHz) / kLogStep;
}

double hz_of(double mel, MelScale scale) {
  if (scale == MelScale::kHtk) return 700 * (std::pow(10, mel / 2595) - 1);
  if (mel < kBorderMel) return mel * kLinearHz;
  return kBorderHz * std::exp(kLogStep * (mel - kBorderMel));
}

// The left ends, centres and right ends: filter i has points i, i + 1 and i + 2.
std::vector<double> points_of(const MelSettings& settings) {
  const double low = mel_of(settings.f_min, settings.scale);
  const double high = mel_of(settings.f_max, settings.scale);
  std::vector<double> points(settings.n_mels + 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(points.size() - 1);
    points[i] = hz_of(low + (high - low) * share, settings.scale);
  }
  return points;
}

}  // namespace

MelBank::MelBank(const MelSettings& settings) : filters_(settings.n_mels) {
  const std::vector<double> points = points_of(settings);
  const double step_hz = static_cast<double>(settings.rate) / settings.n_fft;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    const double left = points[i], centre = points[i + 1], right = points[i + 2];
    const double height = settings.by_width ? 2 / (right - left) : 1;
    for (std::uint32_t k = 0; k <= settings.n_fft / 2; ++k) {
      const double hz = k * step_hz;
      const double weight =
          std::min((hz - left) / (centre - left), (right - hz) / (right - centre));
      if (!(weight > 0)) continue;
      if (filters_[i].weights.empty()) filters_[i].first = k;
      filters_[i].weights.push_back(static_cast<float>(weight * height));
    }
  }
}

bool MelBank::has_empty_filter() const {
  return std::ranges::any_of(filters_, [](const Filter& filter) { return filter.weights.empty(); });
}

void MelBank::apply(std::span<const float> values, std::span<float> bands) const {
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    const float* const from = values.data() + filters_[i].first;
    const std::vector<float>& weights = filters_[i].weights;
    // Four sums, so that one addition need not wait for the other.
    float sums[4] = {};
    std::size_t at = 0;
    for (; at + 4 <= weights.size(); at += 4) {
      for (std::size_t j = 0; j < 4; ++j) sums[j] += weights[at + j] * from[at + j];
    }
    for (; at < weights.size(); ++at) sums[0] += weights[at] * from[at];
    bands[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

}  // namespace echoline::audio
