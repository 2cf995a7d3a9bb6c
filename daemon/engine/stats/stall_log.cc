#include "engine/stats/stall_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/stats/verdict.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

}  // namespace

StallLog::Note StallLog::note(std::uint64_t waited_ns, WaitCause cause, bool here,
                              std::uint64_t now_ns) {
  Note note;
  // A shorter wait than at the last look is another one: a batch came in between, or the trainer
  // has left.
  if (const std::uint64_t before_ns = std::exchange(waited_ns_, waited_ns); waited_ns < before_ns) {
    if (stalled_) {
      const auto most = std::max_element(ticks_.begin(), ticks_.end()) - ticks_.begin();
      note.text = fmt::format("{} after {} s; mostly, the limit was: {}",
                              here ? "batches again" : "the trainer that waited has left",
                              before_ns / kSecondNs, limit_of(static_cast<WaitCause>(most)));
    }
    stalled_ = false;
    ticks_ = {};
  }
  if (waited_ns == 0) return note;
  ++ticks_[static_cast<std::size_t>(cause)];
  if (stalled_ || waited_ns < stall_ns_ || now_ns < next_ns_) return note;
  stalled_ = true;
  next_ns_ = now_ns + stall_ns_;
  return {fmt::format("a trainer has waited {} s for its next batch; the limit is: {}",
                      waited_ns / kSecondNs, limit_of(cause)),
          true};
}

}  // namespace echoline::engine
