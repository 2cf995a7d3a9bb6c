// The metrics have the meanings of Prometheus' own client libraries.
#include "serve/monitor/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/process.h"

namespace echoline::serve {
namespace {

// The number in a line of /proc/self/status, as in "VmRSS:  1234 kB". Read at each scrape, so the
// value is that of this moment.
std::uint64_t status_value(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1));
  }
  return 0;
}

// The start time of the host, in seconds since the epoch.
double boot_time() {
  std::ifstream file("/proc/stat");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return 0;
}

std::uint64_t open_fds() {
  std::error_code error;
  const std::filesystem::directory_iterator entries("/proc/self/fd", error);
  if (error) return 0;
  // The directory is open while it is read.
  return static_cast<std::uint64_t>(std::distance(begin(entries), end(entries))) -
         1;  // the descriptor of the directory itself
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ProcessStats process_stats() {
  ProcessStats stats;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    stats.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  // /proc has the start in ticks since the boot.
  stats.start_time_seconds = boot_time() + static_cast<double>(process_begin(::getpid())) / ticks;
  // /proc has KiB.
  stats.resident_bytes = status_value("VmRSS") * 1024;
  stats.virtual_bytes = status_value("VmSize") * 1024;
  stats.threads = status_value("Threads");
  stats.open_fds = open_fds();
  rlimit files{};
  // The soft limit, which is the one that counts.
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) stats.max_fds = files.rlim_cur;
  return stats;
}

}  // namespace echoline::serve
