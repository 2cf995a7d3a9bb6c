// The rates at which an endpoint delivered, by the number of requests in flight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace echoline::source {

// All numbers are means over windows of which each newer one counts more (RateCurve).
struct RatePoint {
  double in_flight = 0;         // requests
  double bytes_per_second = 0;  // of all of them together
  double answer_bytes = 0;      // of one answer
  std::uint64_t windows = 0;    // that were measured
  std::uint64_t last_ns = 0;    // monotonic_ns() at the end of the last one
};

struct EndpointRates {
  std::string endpoint;             // scheme, host and port, as everybody may see them
  bool short_answers = false;       // else long ones (ThroughputSearch)
  std::vector<RatePoint> points{};  // ascending requests; empty: nothing was measured
  double usual_rate = 0;            // bytes/s of long answers, also in earlier runs; 0: not known
};

}  // namespace echoline::source
