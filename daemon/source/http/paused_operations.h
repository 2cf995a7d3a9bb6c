// Operations between two attempts: after a failure, or until their credentials are ready.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "source/core/counters.h"
#include "source/http/operation_state.h"

namespace echoline::source {

// One thread. Holds pointers only: remove() must be called before an operation is destroyed.
class PausedOperations {
 public:
  PausedOperations();

  // Until a time, for example because credentials are not ready.
  void pause(OperationState& state, WaitReason reason, std::uint64_t until_ns);

  // The end of the pause after one more failure: an exponential back-off with jitter, or what the
  // store asked for, if that is longer.
  std::uint64_t retry_time_ns(const OperationState& state, std::uint64_t retry_after_ns,
                              std::uint64_t now_ns);

  // Appends those that are due to `queue` and counts how long they paused.
  void queue_due(std::uint64_t now_ns, std::deque<OperationState*>& queue,
                 SharedCounters& counters);

  // Without a pause, before all others: the operation had its turn, and its answer named another
  // address.
  void queue_at_once(OperationState& state, std::deque<OperationState*>& queue,
                     SharedCounters& counters);

  // A good answer came. If there was none for a while, the store is back after an outage: all
  // become due now, except those for which the store has set the time.
  void note_good_answer(std::uint64_t now_ns);

  void remove(OperationState& state) { std::erase(paused_, &state); }

  // When the next one is due; UINT64_MAX if none is paused.
  std::uint64_t next_due_ns() const;

 private:
  std::vector<OperationState*> paused_;
  const std::uint64_t jitter_seed_;
  std::uint32_t jitter_draws_ = 0;
  std::uint64_t last_good_ns_;
};

}  // namespace echoline::source
