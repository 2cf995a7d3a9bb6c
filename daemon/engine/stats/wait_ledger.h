// Charges a trainer's waiting time to what delayed its next batch (Mohan et al., PVLDB 2021).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "engine/api/stats.h"
#include "ring/ring.h"

namespace echoline::engine {

// One attachment of one trainer. Looked at every hundredth of a second: what was waited since the
// last look is charged to the cause seen now. Not thread safe.
class WaitLedger {
 public:
  // `away`: the cause for what the trainer waited before it was attached. A trainer that attaches
  // again adds that wait to its new cursor page.
  WaitLedger(std::uint64_t attached_ns, WaitCause away) : looked_ns_(attached_ns), away_(away) {}
  WaitLedger() = default;

  struct Charged {
    std::uint64_t since_look_ns = 0;  // to the present cause
    std::uint64_t away_ns = 0;        // before it was attached
    std::uint64_t sum() const { return since_look_ns + away_ns; }
  };

  // Returns what was charged now.
  Charged charge(const ring::ReaderView& view, std::uint64_t now_ns, WaitCause cause) {
    std::uint64_t total_ns = view.wait_ns;
    if (view.waiting_since_ns != 0 && view.waiting_since_ns < now_ns) {
      total_ns += now_ns - view.waiting_since_ns;
    }
    const std::uint64_t passed_ns = now_ns - std::min(std::exchange(looked_ns_, now_ns), now_ns);
    if (total_ns <= charged_ns_) return {};
    const std::uint64_t more_ns = total_ns - std::exchange(charged_ns_, total_ns);
    Charged charged{.since_look_ns = more_ns, .away_ns = 0};
    // Nobody waits for longer than the clock says: the rest was waited before the attachment.
    if (more_ns > passed_ns + kSlackNs) {
      charged = {.since_look_ns = passed_ns, .away_ns = more_ns - passed_ns};
    }
    by_cause_[static_cast<std::size_t>(cause)] += charged.since_look_ns;
    by_cause_[static_cast<std::size_t>(away_)] += charged.away_ns;
    return charged;
  }

  WaitCause away_cause() const { return away_; }
  const std::array<std::uint64_t, 5>& by_cause() const { return by_cause_; }

 private:
  // The page is read a moment after the clock.
  static constexpr std::uint64_t kSlackNs = 20'000'000;

  std::array<std::uint64_t, 5> by_cause_{};
  std::uint64_t charged_ns_ = 0;
  std::uint64_t looked_ns_ = 0;
  WaitCause away_ = WaitCause::kDaemon;
};

}  // namespace echoline::engine
