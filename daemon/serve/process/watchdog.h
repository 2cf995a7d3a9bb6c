// The service manager's watchdog: told that the daemon lives, for as long as its loops go round.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace echoline::serve {

// How long the service manager waits for a sign of life before it kills and restarts the daemon, by
// $WATCHDOG_USEC and $WATCHDOG_PID; 0 where it does not watch this process.
std::chrono::microseconds watchdog_patience();

// A count of some loop's rounds, which stands still when the loop hangs. It may hang itself then.
using RoundCount = std::function<std::uint64_t()>;

// Looks four times within the patience, in a thread of its own, and sends WATCHDOG=1 if every loop
// went round since the last look. Does nothing where nobody watches. The counts must outlive it.
class Watchdog {
 public:
  explicit Watchdog(std::vector<RoundCount> loops);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  void run(std::chrono::microseconds pause);
  bool all_went_round();

  const std::vector<RoundCount> loops_;
  std::vector<std::uint64_t> rounds_;  // at the last look
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace echoline::serve
