// The process metrics that every Prometheus exporter has, from /proc.
#pragma once

#include <cstdint>

namespace echoline::serve {

// A value is 0 if /proc does not have it.
struct ProcessStats {
  double cpu_seconds = 0;         // user and system, all threads
  double start_time_seconds = 0;  // since the epoch
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t open_fds = 0;
  std::uint64_t max_fds = 0;  // RLIMIT_NOFILE
  std::uint64_t threads = 0;
};

// Reads /proc/self; any thread.
ProcessStats process_stats();

}  // namespace echoline::serve
