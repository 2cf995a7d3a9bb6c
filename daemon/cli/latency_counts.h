// A histogram of durations in steps of about one percent: quantiles of any number of values in a
// bounded memory.
#pragma once

#include <cstdint>
#include <vector>

namespace echoline::cli {

// Not thread safe.
class LatencyCounts {
 public:
  LatencyCounts();
  void add(std::uint64_t ns);
  // The quantile `share` (0 to 1), accurate to one percent; 0 if there are no values.
  double quantile_ns(double share) const;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
};

}  // namespace echoline::cli
