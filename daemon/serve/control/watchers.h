// Those who watch the daemon over a call that stays open: how many at most, and their end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/status.h"

namespace echoline::serve {

inline constexpr std::size_t kWatchersMax = 32;
// Of one caller: nobody keeps all others out.
inline constexpr std::size_t kWatchersPerCallerMax = 8;

// Any thread may call any of it; outlives its seats.
class Watchers {
 public:
  // One watcher, while it lives.
  class Seat {
   public:
    Seat(Watchers& watchers, std::string caller)
        : watchers_(&watchers), caller_(std::move(caller)) {}
    Seat(Seat&& other) noexcept
        : watchers_(std::exchange(other.watchers_, nullptr)), caller_(std::move(other.caller_)) {}
    Seat& operator=(Seat&&) = delete;
    ~Seat();

   private:
    Watchers* watchers_;  // null: moved away
    std::string caller_;
  };

  // kResourceExhausted when all seats, or all of this caller, are taken.
  Result<Seat> admit(const std::string& caller);
  // True after `pause`; at once false when the watching ends, and soon after `cancelled` says so.
  bool pause(std::chrono::milliseconds pause, const std::function<bool()>& cancelled);
  // Everybody's pause ends, now and from now on.
  void stop();
  bool stopped() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::multiset<std::string> seated_;  // callers
  bool stopped_ = false;
};

}  // namespace echoline::serve
