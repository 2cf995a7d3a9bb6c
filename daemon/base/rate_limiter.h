// Limits how often messages are logged that others can provoke.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

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

// For messages that come in crowds, such as those of a job's trainers. One thread at a time.
class LineBudget {
 public:
  static constexpr std::uint32_t kLines = 200;
  static constexpr std::uint64_t kTimeNs = 60'000'000'000;

  // What the line ends with, or nothing if there are kLines within kTimeNs.
  std::optional<std::string_view> take(std::uint64_t now_ns) {
    if (now_ns >= end_ns_) {
      end_ns_ = now_ns + kTimeNs;
      left_ = kLines;
    }
    if (left_ == 0) return std::nullopt;
    return --left_ > 0 ? "" : " (no more such lines within a minute of the first one)";
  }

 private:
  std::uint64_t end_ns_ = 0;
  std::uint32_t left_ = 0;
};

}  // namespace echoline
