// Those who watch the daemon over a call that stays open: how many at most, and their end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "base/status.h"

namespace echoline::serve {

inline constexpr int kWatchersMax = 32;

// Any thread may call any of it; outlives its seats.
class Watchers {
 public:
  // One watcher, while it lives.
  class Seat {
   public:
    explicit Seat(Watchers& watchers) : watchers_(&watchers) {}
    Seat(Seat&& other) noexcept : watchers_(other.watchers_) { other.watchers_ = nullptr; }
    Seat& operator=(Seat&&) = delete;
    ~Seat();

   private:
    Watchers* watchers_;
  };

  // kResourceExhausted when all seats are taken.
  Result<Seat> admit();
  // True after `pause`; at once false when the watching ends, and soon after `cancelled` says so.
  bool pause(std::chrono::milliseconds pause, const std::function<bool()>& cancelled);
  // Everybody's pause ends, now and from now on.
  void stop();
  bool stopped() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int seated_ = 0;
  bool stopped_ = false;
};

}  // namespace echoline::serve
