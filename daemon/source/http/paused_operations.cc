#include "source/http/paused_operations.h"

#include <algorithm>

#include "base/clock.h"
#include "source/http/backoff.h"

namespace echoline::source {
namespace {

// A good answer after this long without any means that the store is back.
constexpr std::uint64_t kOutageNs = 1'000'000'000;

}  // namespace

PausedOperations::PausedOperations()
    // A different seed in each process, so that hosts do not retry at the same time.
    : jitter_seed_(monotonic_ns()), last_good_ns_(monotonic_ns()) {}

void PausedOperations::pause(OperationState& state, WaitReason reason, std::uint64_t until_ns) {
  state.pause_reason_ = reason;
  state.pause_begin_ns_ = monotonic_ns();
  state.due_ns_ = until_ns;
  paused_.push_back(&state);
}

std::uint64_t PausedOperations::retry_time_ns(const OperationState& state,
                                              std::uint64_t retry_after_ns, std::uint64_t now_ns) {
  const std::uint64_t backoff = backoff_ns(state.failures_, jitter_seed_, ++jitter_draws_);
  // The store may ask for a longer pause, not for a shorter one.
  return now_ns + std::max(backoff, retry_after_ns);
}

void PausedOperations::queue_due(std::uint64_t now_ns, std::deque<OperationState*>& queue,
                                 SharedCounters& counters) {
  std::erase_if(paused_, [&](OperationState* state) {
    if (state->due_ns_ > now_ns) return false;
    counters.add_wait(state->pause_reason_, now_ns - state->pause_begin_ns_);
    state->due_ns_ = 0;
    // From now on it waits for room, which is counted separately.
    state->queued_since_ns_ = now_ns;
    queue.push_back(state);
    return true;
  });
}

void PausedOperations::queue_at_once(OperationState& state, std::deque<OperationState*>& queue,
                                     SharedCounters& counters) {
  SharedCounters::add(counters.redirected, 1);
  state.queued_since_ns_ = monotonic_ns();
  queue.push_front(&state);
}

// All come back at once; the endpoint's limit keeps them from overloading the store.
void PausedOperations::note_good_answer(std::uint64_t now_ns) {
  if (now_ns > last_good_ns_ + kOutageNs) {
    for (OperationState* state : paused_)
      // Becomes due in the next step. What the store asked for is respected.
      if (!state->due_set_by_store_) state->due_ns_ = now_ns;
  }
  last_good_ns_ = now_ns;
}

std::uint64_t PausedOperations::next_due_ns() const {
  std::uint64_t due = UINT64_MAX;
  // Linear: pauses are rare, and at most one per operation.
  for (const OperationState* state : paused_) due = std::min(due, state->due_ns_);
  return due;
}

}  // namespace echoline::source
