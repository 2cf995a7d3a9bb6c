// SIGTERM and SIGINT: the first signal requests a stop, a second one (or a deadline) ends the
// process at once. A signal within half a second of the first counts as the same request.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace echoline::serve {

// The main thread creates it before any other thread starts, so that all threads inherit the
// blocked signals; a thread of its own waits for them. It also ignores SIGPIPE. requested() may be
// called by any thread.
class StopSignal {
 public:
  // If the process has not ended `patience` after the first signal, it removes the files
  // `leftovers` and exits with status 0.
  StopSignal(std::chrono::milliseconds patience, std::vector<std::string> leftovers);
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  // Removes the leftovers and exits without destructors, which could hang.
  [[noreturn]] void exit_now(int status) const;

  bool requested() const { return requested_; }
  // Blocks until the first signal.
  void wait();
  // The same for a limited time; returns whether a stop is requested.
  bool wait_for(std::chrono::milliseconds time);

 private:
  // The thread: waits for the signals.
  void listen();
  const std::chrono::milliseconds patience_;
  const std::vector<std::string> leftovers_;
  std::atomic<bool> requested_ = false;
  std::atomic<bool> ending_ = false;
  Mutex mutex_;  // held while requested_ becomes true, so that wait() cannot miss it
  CondVar changed_;
  std::thread listener_;
};

}  // namespace echoline::serve
