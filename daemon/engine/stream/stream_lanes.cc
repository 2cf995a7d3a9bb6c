// Which lanes the trainers of this host want (semantics.md, Lanes): the others are left to other
// hosts.

#include <set>

#include "engine/stream/stream.h"

namespace echoline::engine {

// Batches of another size, or off the stream's grid, hold rows of all lanes; batch echo repeats
// whole batches.
LaneSet Stream::lanes_of(const Consumer& consumer) const {
  const std::uint32_t lanes = core_->plan->spec().lanes;
  const std::uint32_t batch_rows = core_->ring_spec.batch_rows;
  if (consumer.job.batch_size != batch_rows || consumer.start.row % batch_rows != 0 ||
      core_->repeats_batches()) {
    return LaneSet(lanes, true);
  }
  return lanes_of_rank(lanes, consumer.rank, consumer.job.world_size);
}

// Where all ranks of this host are there: of those that died, places are kept.
void Stream::leave_lanes_to_other_hosts() {
  const std::uint32_t lanes = core_->plan->spec().lanes;
  if (lanes == 1 || !pending_ranks_.missing_jobs().empty()) return;
  for (const auto& pass : passes_) {
    if (pending_ranks_.awaits(*pass)) continue;
    LaneSet wanted(lanes);
    std::map<Job, std::set<std::uint32_t>> there;
    bool complete = has_readers(*pass);
    for (const Consumer& consumer : consumers_) {
      if (consumer.pass != pass) continue;
      const LaneSet its = lanes_of(consumer);
      for (std::uint32_t lane = 0; lane < lanes; ++lane) wanted[lane] = wanted[lane] || its[lane];
      there[consumer.job].insert(consumer.rank);
      complete = complete && !consumer.moving;
    }
    for (const Consumer& consumer : consumers_) {
      if (consumer.pass != pass) continue;
      complete = complete && there[consumer.job].size() >= consumer.local_ranks;
    }
    if (complete) pass->keep_lanes(wanted);
  }
}

}  // namespace echoline::engine
