// Limits how often a message is logged that others can provoke.
#pragma once

#include <atomic>
#include <cstdint>

namespace echoline {

// Any thread. Times are of one monotonic clock.
class RateLimiter {
 public:
  explicit RateLimiter(std::uint64_t pause_ns) : pause_ns_(pause_ns) {}

  // True at the first call, then at most once per pause. Of concurrent callers one gets true.
  bool due(std::uint64_t now_ns) {
    std::uint64_t next_ns = next_ns_.load(std::memory_order_relaxed);
    return now_ns >= next_ns && next_ns_.compare_exchange_strong(next_ns, now_ns + pause_ns_);
  }

 private:
  const std::uint64_t pause_ns_;
  std::atomic<std::uint64_t> next_ns_{0};
};

}  // namespace echoline
