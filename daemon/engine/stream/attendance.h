// The trainers of a stream, from the pass that they join until they leave: the attached ones, those
// that are still awaited, and the notices about them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rate_limiter.h"
#include "engine/api/attach.h"
#include "engine/jobs/attach_call.h"
#include "engine/jobs/consumers.h"
#include "engine/jobs/pending_ranks.h"
#include "engine/jobs/rank_events.h"
#include "engine/open/stream_core.h"
#include "engine/stream/pass_set.h"
#include "engine/stream/stream_meter.h"

namespace echoline::engine {

// Under the registry's lock. What it refers to outlives it.
class Attendance {
 public:
  Attendance(const StreamCore& core, const PassSet& passes, std::uint32_t workers);

  Consumers& consumers() { return consumers_; }
  const Consumers& consumers() const { return consumers_; }
  PendingRanks& pending_ranks() { return pending_ranks_; }
  const PendingRanks& pending_ranks() const { return pending_ranks_; }
  const StreamMeter& meter() const { return meter_; }
  StreamMeter& meter() { return meter_; }

  // A trainer has joined this pass: it is attached from now on.
  void add(Consumer consumer, const JoinedPass& joined, bool reattaches,
           std::vector<TrainerNotice>& notices);
  // False if that connection is not attached.
  bool remove(std::uint64_t connection, std::uint64_t now_ns, std::vector<TrainerNotice>& notices);
  // Charges waits, and removes trainers whose cursor page holds impossible values. First at every
  // tick.
  void measure(std::uint64_t now_ns, std::vector<TrainerNotice>& notices);
  // Ends waits for ranks, leaves lanes to other hosts, and adds the notices that are due.
  void tick(std::uint64_t now_ns, std::vector<TrainerNotice>& notices);

  // No trainer reads the pass, and no rank is awaited there.
  bool is_unread(const Pass& pass) const;
  // The same, and no job of publish.jobs is awaited there.
  bool is_idle(const Pass& pass) const;

 private:
  // Ends waits for ranks that have come, or did not come in time.
  void release_pending(std::uint64_t now_ns, std::vector<TrainerNotice>& notices);

  const StreamCore& core_;
  const PassSet& passes_;
  Consumers consumers_;
  PendingRanks pending_ranks_;
  RankEvents rank_events_;
  StreamMeter meter_;
  LineBudget lines_;
};

}  // namespace echoline::engine
