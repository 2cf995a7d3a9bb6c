#include "engine/stats/cost_window.h"

#include <algorithm>
#include <cmath>

namespace echoline::engine {
namespace {

// Costs that differ by less count as equal. Samples of one second vary by a few percent.
constexpr double kSteadyWithin = 0.1;

double cost_of(std::uint64_t spent_ns, std::uint64_t units) {
  return units == 0 ? 0 : static_cast<double>(spent_ns) / static_cast<double>(units);
}

}  // namespace

void CostWindow::see(Work total) {
  total_ = total;
  const Work more{total.spent_ns - begin_.spent_ns, total.units - begin_.units};
  if (more.spent_ns < sample_.spent_ns || more.units < sample_.units) return;
  last_ = {last_[1], more};
  begin_ = total;
}

double CostWindow::cost_ns() const {
  if (last_[1].units == 0) return cost_of(total_.spent_ns, total_.units);
  return cost_of(last_[0].spent_ns + last_[1].spent_ns, last_[0].units + last_[1].units);
}

bool CostWindow::is_steady() const {
  if (last_[0].units == 0) return false;
  const double older = cost_of(last_[0].spent_ns, last_[0].units);
  const double newer = cost_of(last_[1].spent_ns, last_[1].units);
  return std::abs(newer - older) <= kSteadyWithin * std::max(newer, older);
}

}  // namespace echoline::engine
