// Measures what the trainers of a stream need for their own work: the time of a step, however long
// the daemon keeps them waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/stats/cost_window.h"

namespace echoline::engine {

// The trainer of a pass that has released the fewest batches. The others of the pass wait for it at
// times, and such waits say nothing about the daemon.
struct SlowestTrainer {
  const void* pass = nullptr;  // only compared
  std::size_t trainers = 0;    // of the pass
  std::uint64_t released = 0;  // batches: published ones say how fast the ring is filled
  bool waits = false;
};

// Not thread safe.
class TrainerClock {
 public:
  // At every tick, with all passes that have trainers.
  void tick(std::uint64_t passed_ns, const std::vector<SlowestTrainer>& passes);
  // Time in which the slowest trainers worked, and the batches that they released. Of several
  // passes it is the mean time and all of their batches, since the daemon makes all of them.
  CostWindow::Work work() const { return work_; }

 private:
  struct Seen {
    std::size_t trainers = 0;
    std::uint64_t released = 0;
  };

  std::map<const void*, Seen> seen_;  // of the passes at the last tick
  CostWindow::Work work_;
};

}  // namespace echoline::engine
