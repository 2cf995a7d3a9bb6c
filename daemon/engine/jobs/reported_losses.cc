#include "engine/jobs/reported_losses.h"

#include <algorithm>
#include <cmath>

namespace echoline::engine {

void ReportedLosses::see(const std::string& job, const shm::LossFigures& claimed,
                         shm::LossFigures& seen) {
  if (claimed.reports == seen.reports) return;
  ReportedLoss& losses = of(job);
  for (std::size_t use = 0; use < shm::kLossUses; ++use) {
    const double sum = claimed.sums[use] - seen.sums[use];
    // Not finite, or fewer rows than before: no client library writes this.
    if (claimed.rows[use] < seen.rows[use] || !std::isfinite(sum)) continue;
    losses.rows[use] += claimed.rows[use] - seen.rows[use];
    losses.sums[use] += sum;
  }
  seen = claimed;
}

ReportedLoss& ReportedLosses::of(const std::string& job) {
  ++turn_;
  auto found = std::find_if(jobs_.begin(), jobs_.end(),
                            [&](const Job& one) { return one.losses.job == job; });
  if (found == jobs_.end() && jobs_.size() < kJobsMax) {
    found = jobs_.insert(jobs_.end(), Job{.losses = {.job = job}});
  } else if (found == jobs_.end()) {
    found = std::min_element(jobs_.begin(), jobs_.end(),
                             [](const Job& a, const Job& b) { return a.used < b.used; });
    found->losses = {.job = job};
  }
  found->used = turn_;
  return found->losses;
}

std::vector<ReportedLoss> ReportedLosses::report() const {
  std::vector<ReportedLoss> all;
  for (const Job& one : jobs_) all.push_back(one.losses);
  std::sort(all.begin(), all.end(),
            [](const ReportedLoss& a, const ReportedLoss& b) { return a.job < b.job; });
  return all;
}

}  // namespace echoline::engine
