#include "source/http/rate_curve.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace echoline::source {

void RateCurve::add(const RatePoint& window) {
  const long power = std::lround(std::log2(std::max(1.0, window.in_flight)));
  RatePoint& point = points_[std::min(static_cast<std::size_t>(power), kPointsMax - 1)];
  ++point.windows;
  const double share = 1 / static_cast<double>(std::min(point.windows, kFading));
  for (const auto mean :
       {&RatePoint::in_flight, &RatePoint::bytes_per_second, &RatePoint::answer_bytes}) {
    point.*mean += share * (window.*mean - point.*mean);
  }
  point.last_ns = window.last_ns;
}

std::vector<RatePoint> RateCurve::points() const {
  std::vector<RatePoint> points;
  std::copy_if(points_.begin(), points_.end(), std::back_inserter(points),
               [](const RatePoint& point) { return point.windows > 0; });
  return points;
}

}  // namespace echoline::source
