// Decides when a read that waits for its answer is sent a second time (hedged). Pure arithmetic;
// the caller passes the time.
//
// J. Dean and L. A. Barroso, "The Tail at Scale", Communications of the ACM 56(2), 2013: a second
// request after the 95th percentile of the expected time removes most of the tail latency for a few
// percent more load.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace echoline::source {

// A request is late after twice the 95th percentile of recent answers, so that a healthy store gets
// few hedges. If more than a twentieth of all requests is late, the whole store is slow. Then the
// percentile grows, and until it has, a budget of one hedge per 20 requests bounds the extra load.
// Not thread-safe.
class Hedging {
 public:
  static constexpr std::size_t kAnswersMax = 128;  // in the percentile
  static constexpr std::size_t kAnswersMin = 32;   // before any request counts as late
  static constexpr std::uint64_t kLateMinNs = 100'000'000;
  static constexpr std::size_t kRequestsPerHedge = 20;
  static constexpr std::size_t kBurstMax = 8;

  // A request is sent, as a first attempt or a retry.
  void note_request() { credit_ = std::min(credit_ + 1, kBurstMax * kRequestsPerHedge); }

  // A request waited this long for the first byte of its answer.
  void note_answer(std::uint64_t waited_ns) {
    waited_ns_[answers_ % kAnswersMax] = waited_ns;
    ++answers_;
  }

  // The time without a byte after which a request is late; nothing until kAnswersMin answers have
  // come.
  std::optional<std::uint64_t> late_after_ns() const {
    if (answers_ < kAnswersMin) return std::nullopt;
    auto sorted = waited_ns_;
    const std::size_t count = std::min(answers_, kAnswersMax);
    const auto p95 = sorted.begin() + static_cast<std::ptrdiff_t>(count * 95 / 100);
    std::nth_element(sorted.begin(), p95, sorted.begin() + static_cast<std::ptrdiff_t>(count));
    return std::max(kLateMinNs, *p95 * 2);
  }

  bool may_hedge() const { return credit_ >= kRequestsPerHedge; }
  void note_hedge() { credit_ -= kRequestsPerHedge; }

 private:
  std::array<std::uint64_t, kAnswersMax> waited_ns_{};
  std::size_t answers_ = 0;
  std::size_t credit_ = 0;
};

}  // namespace echoline::source
