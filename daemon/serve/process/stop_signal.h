// SIGTERM and SIGINT: the first asks the daemon to stop, the second (or a deadline) ends it at
// once. What comes within half a second of the first counts as the same wish.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace echoline::serve {

// Made by the main thread before any other thread starts: signals are blocked there and heard by a
// thread of its own. SIGPIPE is ignored.
class StopSignal {
 public:
  // `patience` after the first signal the process ends with status 0 whatever it is doing;
  // `leftovers` are files removed then.
  StopSignal(std::chrono::milliseconds patience, std::vector<std::string> leftovers);
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  bool requested() const { return requested_; }
  // Until the first signal.
  void wait();

 private:
  void listen();
  [[noreturn]] void give_up(int status) const;

  const std::chrono::milliseconds patience_;
  const std::vector<std::string> leftovers_;
  std::atomic<bool> requested_ = false;
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread listener_;
};

}  // namespace echoline::serve
