// Durations counted in steps of about one percent, so that quantiles of any number of them take
// little room.
#pragma once

#include <cstdint>
#include <vector>

namespace echoline::cli {

// Not thread safe.
class LatencyCounts {
 public:
  LatencyCounts();
  void add(std::uint64_t ns);
  // The duration that `share` of them do not exceed, to one percent; 0 without any.
  double quantile_ns(double share) const;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
};

}  // namespace echoline::cli
