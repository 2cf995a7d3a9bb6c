// When a read that waits for its answer is asked for a second time: who is late, and how often that
// may be. Pure arithmetic; its times are the caller's.
//
// J. Dean and L. A. Barroso, "The Tail at Scale", Communications of the ACM 56(2), 2013: a second
// request after the 95th percentile of the expected time takes away most of the tail for a few
// percent more load.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace echoline::source {

// Late is twice the 95th percentile of recent answers, so that a store in good health is asked
// little more. When more than a twentieth of all is late, the whole store is slow: then the
// percentile grows, and the budget of a twentieth of the requests bounds what is asked until it
// has. Not thread safe.
class Hedging {
 public:
  static constexpr std::size_t kAnswersMost = 128;  // remembered
  static constexpr std::size_t kAnswersLeast = 32;  // before anything is called late
  static constexpr std::uint64_t kLateLeastNs = 100'000'000;
  static constexpr std::size_t kRequestsForEach = 20;
  static constexpr std::size_t kBurstMost = 8;

  // A request is made, for the first time or anew.
  void asked() { credit_ = std::min(credit_ + 1, kBurstMost * kRequestsForEach); }

  // How long one waited for the first byte of its answer.
  void answered(std::uint64_t waited_ns) {
    waited_ns_[answers_ % kAnswersMost] = waited_ns;
    ++answers_;
  }

  // The time without a byte after which a request is late; none while too little is known.
  std::optional<std::uint64_t> late_ns() const {
    if (answers_ < kAnswersLeast) return std::nullopt;
    auto sorted = waited_ns_;
    const std::size_t count = std::min(answers_, kAnswersMost);
    const auto p95 = sorted.begin() + static_cast<std::ptrdiff_t>(count * 95 / 100);
    std::nth_element(sorted.begin(), p95, sorted.begin() + static_cast<std::ptrdiff_t>(count));
    return std::max(kLateLeastNs, *p95 * 2);
  }

  bool may_ask_again() const { return credit_ >= kRequestsForEach; }
  void asked_again() { credit_ -= kRequestsForEach; }

 private:
  std::array<std::uint64_t, kAnswersMost> waited_ns_{};
  std::size_t answers_ = 0;
  std::size_t credit_ = 0;
};

}  // namespace echoline::source
