// Sends keep-alives to the service manager's watchdog while the daemon's loops make progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace echoline::serve {

// The time without a keep-alive after which the service manager kills and restarts the daemon, from
// $WATCHDOG_USEC and $WATCHDOG_PID; 0: it does not watch this process.
std::chrono::microseconds watchdog_patience();

// Returns a loop's count of rounds, which does not grow while the loop hangs. It may block too
// then.
using RoundCount = std::function<std::uint64_t()>;

// Checks the counts four times within the patience, on a thread of its own, and sends WATCHDOG=1 if
// every count has grown since the last check. No effect if the process is not watched. The counts
// outlive it.
class Watchdog {
 public:
  explicit Watchdog(std::vector<RoundCount> loops);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  // The thread: checks the loops again and again.
  void run(std::chrono::microseconds pause);
  // Whether every loop has made a round since the last check.
  bool all_made_progress();

  const std::vector<RoundCount> loops_;
  std::vector<std::uint64_t> rounds_;  // at the last check
  Mutex mutex_;
  CondVar changed_;
  bool ending_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace echoline::serve
