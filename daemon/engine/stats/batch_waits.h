// How long a trainer waited for each of its batches, from what its cursor page says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/api/stats.h"
#include "ring/reader.h"

namespace echoline::engine {

// One attachment of one trainer, looked at every hundredth of a second. Where several batches were
// taken between two looks, a wait that was seen before belongs to the first of them, and the rest
// is divided among all. So waits are exact where a batch comes alone, and that is so for all that
// take longer than the distance of two looks, to within that distance. Not thread safe.
class BatchWaits {
 public:
  void see(const ring::ReaderView& view, std::uint64_t now_ns) {
    // A wait in several calls, such as those of Python, which looks for signals, is one wait.
    if (view.wait_ns > ended_ns_) waited_ns_ += view.wait_ns - ended_ns_;
    ended_ns_ = view.wait_ns;
    const std::uint64_t before = std::exchange(batches_, view.batches);
    if (view.batches > before) count(view.batches - before);
    const bool waits = view.waiting_since_ns != 0 && view.waiting_since_ns < now_ns;
    seen_ns_ = waited_ns_ + (waits ? now_ns - view.waiting_since_ns : 0);
  }

  const BatchWaitTimes& times() const { return times_; }

 private:
  void count(std::uint64_t batches) {
    const std::uint64_t seen_ns = std::min(seen_ns_, waited_ns_);
    const std::uint64_t each_ns = (waited_ns_ - seen_ns) / batches;
    times_.add(seen_ns + each_ns);
    times_.add(each_ns, batches - 1);
    waited_ns_ = 0;
  }

  BatchWaitTimes times_;
  std::uint64_t batches_ = 0;    // taken, and
  std::uint64_t ended_ns_ = 0;   // all ended waits, at the last look
  std::uint64_t waited_ns_ = 0;  // ended waits for the next batch
  std::uint64_t seen_ns_ = 0;    // for the next batch, at the last look, the running wait included
};

}  // namespace echoline::engine
