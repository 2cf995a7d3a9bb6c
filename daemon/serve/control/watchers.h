// Limits the calls that watch the daemon, which stay open, and ends them when it stops.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"

namespace echoline::serve {

inline constexpr std::size_t kWatchersMax = 32;
// Of one caller, so that no caller can keep all others out.
inline constexpr std::size_t kWatchersPerCallerMax = 8;

class Watchers;

// Counts as one watcher while it lives.
class WatchLease {
 public:
  WatchLease(WatchLease&& other) noexcept
      : watchers_(std::exchange(other.watchers_, nullptr)), caller_(std::move(other.caller_)) {}
  WatchLease& operator=(WatchLease&&) = delete;
  ~WatchLease();

 private:
  friend class Watchers;
  WatchLease(Watchers& watchers, std::string caller)
      : watchers_(&watchers), caller_(std::move(caller)) {}

  Watchers* watchers_;  // null: moved from
  std::string caller_;
};

// Any thread may call everything. Outlives its leases.
class Watchers {
 public:
  // kResourceExhausted: there are too many watchers, of this caller or in all.
  Result<WatchLease> admit(const std::string& caller);
  // Sleeps for `pause`; true if the caller shall continue to watch. Returns false at once when
  // stop() is called, and within 100 ms after `cancelled` has become true.
  bool pause(std::chrono::milliseconds pause, const std::function<bool()>& cancelled);
  // From now on pause() returns false at once.
  void stop();
  bool stopped() const;

 private:
  friend class WatchLease;
  // The end of a lease.
  void release(const std::string& caller);

  mutable Mutex mutex_;
  CondVar changed_;
  std::multiset<std::string> callers_ ECHOLINE_GUARDED_BY(mutex_);  // one entry per lease
  bool stopped_ ECHOLINE_GUARDED_BY(mutex_) = false;
};

}  // namespace echoline::serve
