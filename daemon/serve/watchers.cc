// gRPC tells a handler of this kind of a caller that left only when it asks, hence the slices.
#include "serve/watchers.h"

#include <fmt/core.h>

#include <algorithm>

namespace echoline::serve {
namespace {

constexpr std::chrono::milliseconds kSlice{100};

}  // namespace

Watchers::Seat::~Seat() {
  if (watchers_ == nullptr) return;
  const std::lock_guard lock(watchers_->mutex_);
  --watchers_->seated_;
}

Result<Watchers::Seat> Watchers::admit() {
  const std::lock_guard lock(mutex_);
  if (seated_ == kWatchersMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} are watching already; end one of them first", kWatchersMax));
  }
  ++seated_;
  return Seat(*this);
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
