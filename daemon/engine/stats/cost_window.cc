#include "engine/stats/cost_window.h"

#include <algorithm>
#include <cmath>

namespace echoline::engine {
namespace {

// Costs that differ by less count as equal. Samples of a second vary by several percent.
constexpr double kEqualWithin = 0.2;
constexpr double kDeviationLeast = 0.05;

bool equal(double one, double other) {
  return std::abs(one - other) <= kEqualWithin * std::max(one, other);
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
  if (samples_.size() > kSamplesMax) samples_.pop_front();
  drop_outdated();
}

bool CostWindow::is_enough(const Work& work) const {
  if (work.units < sample_.least.units) return false;
  return static_cast<double>(work.spent_ns) >=
             part_ * static_cast<double>(sample_.least.spent_ns) ||
         static_cast<double>(work.units) >= part_ * static_cast<double>(sample_.enough_units);
}

// One sample can be an outlier, or half of it from before a change. Two in a row that differ from
// the mean in the same direction are a change.
void CostWindow::drop_outdated() {
  if (samples_.size() < 3) return;
  const double before = mean_ns(2);
  const double last = samples_.back().cost_ns(), second = samples_[samples_.size() - 2].cost_ns();
  if (equal(before, last) || equal(before, second) || (last > before) != (second > before)) return;
  samples_.erase(samples_.begin(), samples_.end() - 2);
}

double CostWindow::mean_ns(std::size_t left_out) const {
  Work sum;
  for (std::size_t i = 0; i + left_out < samples_.size(); ++i) {
    sum.spent_ns += samples_[i].spent_ns;
    sum.units += samples_[i].units;
  }
  return sum.cost_ns();
}

double CostWindow::cost_ns() const { return samples_.empty() ? total_.cost_ns() : mean_ns(0); }

double CostWindow::error() const {
  if (samples_.size() < 2) return 1;
  const double mean = mean_ns(0);
  double squares = 0;
  // Records of a cache in memory cost nothing.
  for (const Work& sample : samples_) {
    squares += mean == 0 ? 0 : std::pow(sample.cost_ns() / mean - 1, 2);
  }
  const auto count = static_cast<double>(samples_.size());
  // Few samples can be equal by chance.
  return std::max(kDeviationLeast, std::sqrt(squares / (count - 1))) / std::sqrt(count);
}

}  // namespace echoline::engine
