// How the writer sleeps until readers release slots, and how other threads wake it.
#pragma once

#include <atomic>
#include <cstdint>

#include "echoline/shm/ring_layout.h"
#include "ring/readers.h"

namespace echoline::ring {

// Threads: the writer calls wait; any thread calls the rest. The writer sleeps on a futex in the
// cursor page of the slowest reader, because only this reader can let it continue.
class ReleaseWait {
 public:
  // Both must outlive this.
  ReleaseWait(Readers& readers, shm::WriterPage& writer) : readers_(readers), writer_(writer) {}

  // Sleeps until readers.released() >= count, the deadline (monotonic_ns), or `interrupt`. Returns
  // whether the count was reached.
  bool wait(std::uint64_t count, std::uint64_t deadline_ns);
  // Ends the current wait, or the next one if none is active.
  void interrupt();
  // Wakes a sleeping writer, because the set of readers or the interrupt flag has changed.
  void announce_change();

 private:
  // Sleeps once. Returns whether anything changed, or time ran out; false after a wake for nothing.
  bool sleep_once(std::uint32_t changes, std::uint64_t deadline_ns);

  Readers& readers_;
  shm::WriterPage& writer_;
  std::atomic<bool> interrupted_{false};
  std::atomic<std::uint32_t> changes_{0};  // counts the calls of announce_change
  // The futex word on which the writer sleeps, or is about to sleep; null while it is awake. The
  // writer has seen changes_ == sleeper_changes_ before.
  std::atomic<const std::uint32_t*> sleeping_on_{nullptr};
  std::atomic<std::uint32_t> sleeper_changes_{0};
  std::uint32_t never_rung_ = 0;  // the futex word while there is no reader
};

}  // namespace echoline::ring
