#include "serve/control/watchers.h"

#include <fmt/core.h>

#include <algorithm>

namespace echoline::serve {
namespace {

// gRPC does not notify a synchronous handler that its caller has left, so pause() asks this often.
constexpr std::chrono::milliseconds kSlice{100};

}  // namespace

WatchLease::~WatchLease() {
  if (watchers_ != nullptr) watchers_->release(caller_);
}

void Watchers::release(const std::string& caller) {
  const MutexLock lock(mutex_);
  // By iterator: erase by value would remove all entries of this caller.
  callers_.erase(callers_.find(caller));
}

Result<WatchLease> Watchers::admit(const std::string& caller) {
  const MutexLock lock(mutex_);
  // The caller's own limit first: its message tells the caller what to do.
  if (callers_.count(caller) >= kWatchersPerCallerMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} has {} watchers already, the most of one caller; end one of them "
                              "first",
                              caller, kWatchersPerCallerMax));
  }
  if (callers_.size() >= kWatchersMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} are watching already; end one of them first", kWatchersMax));
  }
  callers_.insert(caller);
  return WatchLease(*this, caller);
}

bool Watchers::pause(std::chrono::milliseconds pause, const std::function<bool()>& cancelled) {
  const auto until = std::chrono::steady_clock::now() + pause;
  MutexLock lock(mutex_);
  while (!stopped_ && !cancelled()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return true;
    // In slices, because `cancelled` cannot wake this thread.
    changed_.wait_until(lock, std::min(until, now + kSlice));
  }
  return false;
}

void Watchers::stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

bool Watchers::stopped() const {
  const MutexLock lock(mutex_);
  return stopped_;
}

}  // namespace echoline::serve
