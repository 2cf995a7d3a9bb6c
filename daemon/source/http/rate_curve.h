// Keeps the rate that was measured at each number of requests in flight.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "source/core/endpoint_rates.h"

namespace echoline::source {

// One point for each power of two; a window counts for the nearest one. A point is the mean of its
// first kFading windows; then each further window counts for one part in kFading, so that a store
// that changes is followed. A point that is measured no more keeps its rate and shows its age. Not
// thread-safe.
class RateCurve {
 public:
  static constexpr std::size_t kPointsMax = 12;  // 1, 2, 4, ..., 2048 requests and more
  static constexpr std::uint64_t kFading = 8;

  // A window; `window.windows` is ignored. Its requests are at least 1.
  void add(const RatePoint& window);
  // Those that were measured, with ascending requests.
  std::vector<RatePoint> points() const;

 private:
  std::array<RatePoint, kPointsMax> points_{};
};

}  // namespace echoline::source
