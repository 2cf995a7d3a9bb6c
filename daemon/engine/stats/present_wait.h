// How long a trainer has waited for the batch that it has not been given yet.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ring/ring.h"

namespace echoline::engine {

// One attachment of one trainer, looked at every hundredth of a second. Not thread safe. A trainer
// may cut one wait into many short ones, for example to look for signals: their sum counts, until
// its position moves.
class PresentWait {
 public:
  void see(const ring::ReaderView& view, std::uint64_t now_ns) {
    std::uint64_t total_ns = view.wait_ns;
    if (view.waiting_since_ns != 0) total_ns += now_ns - std::min(now_ns, view.waiting_since_ns);
    if (!seen_ || view.next != next_) begin_ns_ = total_ns;
    if (seen_ && total_ns > total_ns_) grew_ns_ = now_ns;
    seen_ = true;
    next_ = view.next;
    total_ns_ = std::max(total_ns, begin_ns_);
  }
  // 0: it does not wait.
  std::uint64_t waited_ns(std::uint64_t now_ns) const {
    return now_ns > grew_ns_ + kPauseNs ? 0 : total_ns_ - begin_ns_;
  }

 private:
  // Between two of the short waits.
  static constexpr std::uint64_t kPauseNs = 500'000'000;

  bool seen_ = false;
  plan::Position next_;         // of its next batch
  std::uint64_t total_ns_ = 0;  // all waits, at the last look
  std::uint64_t begin_ns_ = 0;  // the same when its position moved
  std::uint64_t grew_ns_ = 0;   // when the total grew last
};

}  // namespace echoline::engine
