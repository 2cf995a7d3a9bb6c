#include "engine/jobs/reported_losses.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace echoline::engine {
namespace {

// Far beyond what a trainer reports between two looks, and so small that sums of them stay finite.
constexpr std::uint64_t kRowsMax = std::uint64_t{1} << 32;

// Losses are float32. Fewer rows than before are very many, too.
bool is_possible(std::uint64_t rows, double sum) {
  const double most = static_cast<double>(rows) * std::numeric_limits<float>::max();
  return rows <= kRowsMax && std::abs(sum) <= most;
}

}  // namespace

void ReportedLosses::see(const std::string& job, const shm::LossFigures& claimed,
                         shm::LossFigures& seen) {
  if (claimed.reports == seen.reports) return;
  seen.reports = claimed.reports;
  for (std::size_t use = 0; use < shm::kLossUses; ++use) {
    const std::uint64_t rows = claimed.rows[use] - seen.rows[use];
    const double sum = claimed.sums[use] - seen.sums[use];
    // Of a torn page, the next look has the rest.
    if (rows == 0 || !is_possible(rows, sum)) continue;
    ReportedLoss& losses = of(job);
    losses.rows[use] += rows;
    losses.sums[use] += sum;
    seen.rows[use] = claimed.rows[use];
    seen.sums[use] = claimed.sums[use];
  }
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
