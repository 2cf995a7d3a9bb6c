// Looks for what delays the trainers of a stream, and says it once per long wait.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/api/attach.h"
#include "engine/api/stall_report.h"
#include "engine/jobs/consumers.h"
#include "engine/jobs/pending_ranks.h"
#include "engine/open/stream_core.h"
#include "engine/stats/stall_log.h"
#include "engine/stream/pass_set.h"

namespace echoline::engine {

// Under the registry's lock. What it refers to outlives it.
class StallWatch {
 public:
  StallWatch(const StreamCore& core, const Consumers& consumers, const PassSet& passes,
             const PendingRanks& pending_ranks)
      : core_(core),
        consumers_(consumers),
        passes_(passes),
        pending_ranks_(pending_ranks),
        log_(core.stall_report_ns) {}

  // At every tick: logs a wait that has reached daemon.stall_report, with a report, and its end.
  // Trainers that have waited so long get a notice.
  void tick(std::uint64_t now_ns, std::vector<TrainerNotice>& notices);
  StallReport report(std::uint64_t now_ns) const;

 private:
  void notify_waiting(std::uint64_t now_ns, std::vector<TrainerNotice>& notices) const;
  void add_waits(StallReport& report, std::uint64_t now_ns) const;
  void add_reads(StallReport& report, std::uint64_t now_ns) const;
  // Trainers, and the places that are kept for ranks and jobs that are to come.
  void add_holders(StallReport& report, std::uint64_t now_ns) const;

  const StreamCore& core_;
  const Consumers& consumers_;
  const PassSet& passes_;
  const PendingRanks& pending_ranks_;
  StallLog log_;
  std::uint64_t longest_ = 0;  // the connection of the trainer that waited longest at the last tick
};

// Slots of all rings of the stream: free, being filled, published.
struct SlotCounts {
  std::uint64_t free = 0, filling = 0, published = 0;
};
SlotCounts count_slots(const StreamCore& core, const PassSet& passes);

}  // namespace echoline::engine
