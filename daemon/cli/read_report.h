// The counts of `echoline read` and its report at the end.
#pragma once

#include <cstdint>
#include <string>

#include "cli/latency_counts.h"

namespace echoline::cli {

// Not thread safe.
struct ReadReport {
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;  // valid rows of this rank
  std::uint64_t fresh = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wait_ns = 0;  // inside next()
  LatencyCounts next_latency;
  double seconds = 0;      // from the first call of next() to the end
  double cpu_seconds = 0;  // of this process in that time

  // Each is one line.
  std::string json() const;
  std::string text() const;
};

}  // namespace echoline::cli
