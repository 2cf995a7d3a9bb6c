// gRPC tells a handler of this kind of a caller that left only when it asks, hence the slices.
#include "serve/control/watchers.h"

#include <fmt/core.h>

#include <algorithm>

namespace echoline::serve {
namespace {

constexpr std::chrono::milliseconds kSlice{100};

}  // namespace

Watchers::Seat::~Seat() {
  if (watchers_ == nullptr) return;
  const std::lock_guard lock(watchers_->mutex_);
  watchers_->seated_.erase(watchers_->seated_.find(caller_));
}

Result<Watchers::Seat> Watchers::admit(const std::string& caller) {
  const std::lock_guard lock(mutex_);
  if (seated_.count(caller) >= kWatchersPerCallerMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} has {} watchers already, the most of one caller; end one of them "
                              "first",
                              caller, kWatchersPerCallerMax));
  }
  if (seated_.size() >= kWatchersMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} are watching already; end one of them first", kWatchersMax));
  }
  seated_.insert(caller);
  return Seat(*this, caller);
}

bool Watchers::pause(std::chrono::milliseconds pause, const std::function<bool()>& cancelled) {
  const auto until = std::chrono::steady_clock::now() + pause;
  std::unique_lock lock(mutex_);
  while (!stopped_ && !cancelled()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return true;
    changed_.wait_until(lock, std::min(until, now + kSlice));
  }
  return false;
}

void Watchers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

bool Watchers::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

}  // namespace echoline::serve
