// How much a pass may request before its first batch is published, beyond what its slots need.
#pragma once

#include <algorithm>
#include <cstdint>

namespace echoline::engine {

// The first batch waits for its own bytes. Other requests at the same time would share the line
// with them, and none at all would leave it unused until a distant store begins to answer. So more
// is requested as fast as the store delivered before, for the time that a distant store needs: its
// answers then follow those for the slots, and do not all come together. If the store is slower
// this time, the first batch shares the line with what it delivers in kGrowNs. Not thread-safe.
class FirstRequests {
 public:
  static constexpr std::uint64_t kGrowNs = 300'000'000;
  // Less would make short reads.
  static constexpr std::uint64_t kStepBytes = 1 << 20;

  // How many bytes may be ahead. `is_begun`: something is requested for readers that are there.
  // The time begins with the first such call. `rate`: bytes/s that the store delivered; 0 if they
  // are not known.
  std::uint64_t bytes(double rate, bool is_begun, std::uint64_t now_ns) {
    if (!is_begun || begin_ns_ == 0) begin_ns_ = is_begun ? now_ns : 0;
    const double bytes = 1e-9 * rate * static_cast<double>(passed_ns(now_ns));
    return static_cast<std::uint64_t>(bytes) / kStepBytes * kStepBytes;
  }
  // Whether bytes() may become more. Nothing wakes the pass then.
  bool grows(std::uint64_t now_ns) const { return begin_ns_ != 0 && passed_ns(now_ns) < kGrowNs; }

 private:
  std::uint64_t passed_ns(std::uint64_t now_ns) const {
    return begin_ns_ == 0 ? 0 : std::min(now_ns - begin_ns_, kGrowNs);
  }

  std::uint64_t begin_ns_ = 0;  // 0: not begun
};

}  // namespace echoline::engine
