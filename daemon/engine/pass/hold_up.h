// What holds up the next batch of a pass.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/api/stats.h"
#include "engine/pass/in_flight_queue.h"
#include "engine/pass/join_table.h"
#include "ring/ring.h"

namespace echoline::engine {

// Any thread.
class HoldUp {
 public:
  // All must outlive this. `descriptors_live`: see RingSpec.
  HoldUp(ring::Ring& ring, const JoinTable& join_table, const InFlightQueue& in_flight,
         std::uint64_t descriptors_live)
      : ring_(ring),
        join_table_(join_table),
        in_flight_(in_flight),
        descriptors_live_(descriptors_live) {}

  // Of the pass's thread: whether the next batch lacks a slot.
  void note_full(bool full) { ring_full_.store(full, std::memory_order_relaxed); }

  WaitCause present() const;
  // What a reader waits for that has released so many descriptors, if it waits. A wait for rows
  // counts for what holds up the batch behind them, unless that is the workers, too: with faster
  // workers the reader would wait there.
  WaitCause of_reader(std::uint64_t released) const;
  // All slots have batches that this reader has not released. If it waits, its process is stopped
  // or keeps them.
  bool is_own(std::uint64_t released) const;
  // Everything that there is room for is published. Slots being filled are work to be done.
  bool by_readers() const;

 private:
  bool is_full() const { return ring_full_.load(std::memory_order_relaxed); }

  ring::Ring& ring_;
  const JoinTable& join_table_;
  const InFlightQueue& in_flight_;
  const std::uint64_t descriptors_live_;
  std::atomic<bool> ring_full_{false};
};

}  // namespace echoline::engine
