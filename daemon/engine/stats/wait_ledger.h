// Who a trainer waited for: its waiting time, charged to what held its next batch up (Mohan et al.,
// PVLDB 2021).
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "engine/api/stats.h"
#include "ring/ring.h"

namespace echoline::engine {

// Fed a few times every hundredth of a second: a wait is charged to the cause seen while it lasts.
class WaitLedger {
 public:
  // Returns what was charged now.
  std::uint64_t charge(const ring::ReaderView& view, std::uint64_t now_ns, WaitCause cause) {
    std::uint64_t total = view.wait_ns;
    if (view.waiting_since_ns != 0 && view.waiting_since_ns < now_ns) {
      total += now_ns - view.waiting_since_ns;
    }
    if (total <= charged_ns_) return 0;
    const std::uint64_t more = total - std::exchange(charged_ns_, total);
    by_cause_[static_cast<std::size_t>(cause)] += more;
    return more;
  }

  const std::array<std::uint64_t, 5>& by_cause() const { return by_cause_; }
  std::uint64_t total_ns() const { return charged_ns_; }

 private:
  std::array<std::uint64_t, 5> by_cause_{};
  std::uint64_t charged_ns_ = 0;
};

}  // namespace echoline::engine
