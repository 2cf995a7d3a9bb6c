// What the owner of a client and the client's thread hand to each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "engine/remote/remote_run.h"

namespace echoline::engine {

class RunHandover {
 public:
  explicit RunHandover(std::function<void()> wake_owner) : wake_owner_(std::move(wake_owner)) {}

  // Of the owner:
  void submit(RemoteRun run) ECHOLINE_EXCLUDES(mutex_) {
    unsent_.fetch_add(1);
    const MutexLock lock(mutex_);
    runs_.push_back(std::move(run));
  }
  std::vector<RemoteResult> take_results() ECHOLINE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return std::exchange(results_, {});
  }
  bool has_room() const { return unsent_.load() < kUnsentMax; }

  // Of the client's thread:
  std::vector<RemoteRun> take_runs() ECHOLINE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return std::exchange(runs_, {});
  }
  // A submitted run has found its server, or has ended without one.
  void count_sent() {
    if (unsent_.fetch_sub(1) == kUnsentMax) wake_owner_();
  }
  void deliver(std::vector<RemoteResult> results) ECHOLINE_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      std::move(results.begin(), results.end(), std::back_inserter(results_));
    }
    wake_owner_();
  }
  void wake_owner() const { wake_owner_(); }

 private:
  static constexpr std::size_t kUnsentMax = 32;

  const std::function<void()> wake_owner_;
  std::atomic<std::size_t> unsent_{0};  // runs for which no server was found yet
  Mutex mutex_;                         // no other lock is taken under it
  std::vector<RemoteRun> runs_ ECHOLINE_GUARDED_BY(mutex_);
  std::vector<RemoteResult> results_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::engine
