#include "engine/stats/cost_window.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace echoline::engine {
namespace {

// Costs that differ by less count as equal.
constexpr double kEqualWithin = 0.15;
// A change is larger than so many standard errors.
constexpr double kErrors = 4;
// However much samples vary, n of them that differ by this over the root of n have changed.
// Differences are relative to the larger cost: 0.49 for two samples is half or twice the cost.
constexpr double kEqualMost = 0.7;
// Samples vary by several percent; few of them can be equal by chance.
constexpr double kDeviationLeast = 0.03;

using Samples = std::span<const CostWindow::Work>;

double mean_ns(Samples samples) {
  CostWindow::Work sum;
  for (const CostWindow::Work& sample : samples) {
    sum.spent_ns += sample.spent_ns;
    sum.units += sample.units;
  }
  return sum.cost_ns();
}

// Relative standard deviation of a sample. Records of a cache in memory cost nothing.
double deviation(Samples samples) {
  const double mean = mean_ns(samples);
  if (samples.size() < 2 || mean == 0) return kDeviationLeast;
  double squares = 0;
  for (const CostWindow::Work& sample : samples)
    squares += std::pow(sample.cost_ns() / mean - 1, 2);
  return std::max(kDeviationLeast, std::sqrt(squares / static_cast<double>(samples.size() - 1)));
}

}  // namespace

double CostWindow::Work::cost_ns() const {
  return units == 0 ? 0 : static_cast<double>(spent_ns) / static_cast<double>(units);
}

void CostWindow::see(Work total) {
  // A sample ends when a unit is done: time of a unit that is not done yet belongs to the next one.
  const bool done = total.units != total_.units;
  total_ = total;
  const Work more{total.spent_ns - begin_.spent_ns, total.units - begin_.units};
  if (!done || !is_enough(more)) return;
  begin_ = total;
  part_ = std::min(1.0, 2 * part_);
  samples_.push_back(more);
  if (samples_.size() > kSamplesMax) samples_.erase(samples_.begin());
  drop_outdated();
}

bool CostWindow::is_enough(const Work& work) const {
  if (work.units < sample_.least.units) return false;
  return static_cast<double>(work.spent_ns) >=
             part_ * static_cast<double>(sample_.least.spent_ns) ||
         static_cast<double>(work.units) >= part_ * static_cast<double>(sample_.enough_units);
}

bool CostWindow::has_changed(std::size_t recent) const {
  if (samples_.size() <= recent) return false;
  const Samples all = samples_;
  const Samples before = all.first(all.size() - recent), now = all.last(recent);
  const double old_ns = mean_ns(before), new_ns = mean_ns(now);
  // All on one side: one sample can be an outlier.
  const bool one_sided = std::ranges::all_of(
      now, [&](const Work& sample) { return (sample.cost_ns() > old_ns) == (new_ns > old_ns); });
  const double count = static_cast<double>(recent);
  const double chance =
      deviation(before) * std::sqrt(1 / count + 1 / static_cast<double>(before.size()));
  const double equal_within =
      std::clamp(kErrors * chance, kEqualWithin, kEqualMost / std::sqrt(count));
  return one_sided && std::abs(new_ns - old_ns) > equal_within * std::max(new_ns, old_ns);
}

// A large change shows in two samples, a smaller one in four. The first of them goes, too: the
// change came somewhere within it.
void CostWindow::drop_outdated() {
  for (const std::ptrdiff_t recent : {2, 4}) {
    if (!has_changed(static_cast<std::size_t>(recent))) continue;
    samples_.erase(samples_.begin(), samples_.end() - recent + 1);
    return;
  }
}

double CostWindow::cost_ns() const {
  return samples_.empty() ? total_.cost_ns() : mean_ns(samples_);
}

double CostWindow::error() const {
  if (samples_.size() < 2) return 1;
  return deviation(samples_) / std::sqrt(static_cast<double>(samples_.size()));
}

}  // namespace echoline::engine
