// The C++ consumer of handoff.py. usage: handoff_trainer SECONDS RUNTIME_DIR DAEMON_PID
// Prints {"batches", "bytes", "seconds", "cpu_seconds" (of both processes), "next_p50_us"}.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <echoline/echoline.hpp>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double own_cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

double cpu_seconds(const char* pid) {
  std::ifstream file("/proc/" + std::string(pid) + "/stat");
  std::string word;
  std::getline(file, word, ')');
  for (int skipped = 0; skipped < 11; ++skipped) file >> word;
  double user = 0;
  double system = 0;
  file >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4)
    return std::fputs("usage: handoff_trainer SECONDS RUNTIME_DIR DAEMON_PID\n", stderr), 2;
  const double seconds = std::atof(argv[1]);
  echoline::Loader loader("train", {.runtime_dir = argv[2]});
  for (int i = 0; i < 20; ++i) loader.next();
  std::vector<float> times;
  times.reserve(1U << 22);
  double bytes = 0;
  std::size_t batches = 0;
  const double cpu = own_cpu_seconds() + cpu_seconds(argv[3]);
  const auto begin = Clock::now();
  while (batches % 16 != 0 || seconds_since(begin) < seconds) {
    const auto start = Clock::now();
    auto batch = loader.next();
    if (times.size() < times.capacity()) {
      times.push_back(static_cast<float>(seconds_since(start) * 1e6));
    }
    if (!batch) continue;
    bytes += static_cast<double>(batch->tensor<std::uint16_t>("tokens").size_bytes());
    ++batches;
  }
  const double took = seconds_since(begin);
  const double used = own_cpu_seconds() + cpu_seconds(argv[3]) - cpu;
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  std::printf(
      "{\"batches\": %zu, \"bytes\": %.0f, \"seconds\": %f, \"cpu_seconds\": %f, \"next_p50_us\": "
      "%f}\n",
      batches, bytes, took, used, static_cast<double>(times[times.size() / 2]));
}
