#include "engine/stream/lane_choice.h"

#include <map>
#include <set>

namespace echoline::engine {
namespace {

// All ranks of this host that the pass's jobs have are attached. For a rank that died its lanes
// stay prepared, as it may come back.
bool is_complete(const Pass& pass, const Consumers& consumers) {
  std::map<Job, std::set<std::uint32_t>> attached;
  for (const Consumer& consumer : consumers.all()) {
    if (consumer.pass.get() != &pass) continue;
    // It may come back to this pass, so nothing is decided yet.
    if (consumer.moving) return false;
    attached[consumer.job].insert(consumer.rank);
  }
  for (const Consumer& consumer : consumers.all()) {
    if (consumer.pass.get() != &pass) continue;
    if (attached[consumer.job].size() < consumer.local_ranks) return false;
  }
  return !attached.empty();
}

// The lanes of the rows that the pass's trainers read.
LaneSet wanted_lanes(const Pass& pass, const Consumers& consumers, const StreamCore& core) {
  LaneSet wanted(core.plan->spec().lanes);
  for (const Consumer& consumer : consumers.all()) {
    if (consumer.pass.get() != &pass) continue;
    const LaneSet of_trainer = lanes_of(consumer, core);
    for (std::size_t lane = 0; lane < wanted.size(); ++lane) {
      wanted[lane] = wanted[lane] || of_trainer[lane];
    }
  }
  return wanted;
}

}  // namespace

bool reads_off_grid(const Consumer& consumer, const StreamCore& core) {
  const std::uint32_t batch_rows = core.ring_spec.batch_rows;
  // Until its first epoch ends, `start.row` moves all of the trainer's batches.
  return consumer.job.batch_size != batch_rows || consumer.start.row % batch_rows != 0;
}

LaneSet lanes_of(const Consumer& consumer, const StreamCore& core) {
  const std::uint32_t lanes = core.plan->spec().lanes;
  // Batches off the stream's grid hold rows of all lanes; batch echo repeats whole batches.
  if (reads_off_grid(consumer, core) || core.repeats_batches()) return LaneSet(lanes, true);
  return lanes_of_rank(lanes, consumer.rank, consumer.job.world_size);
}

void leave_lanes_to_other_hosts(const StreamCore& core, const PassSet& passes,
                                const Consumers& consumers, const PendingRanks& pending_ranks) {
  const LaneSet all(core.plan->spec().lanes, true);
  // With one lane there is nothing to leave.
  if (all.size() == 1) return;
  // A missing job may want any lane.
  const bool jobs_missing = !pending_ranks.missing_jobs().empty();
  for (const PassSet::Member& member : passes.members()) {
    const Pass& pass = *member.pass;
    // Lanes that were dropped cannot come back for rows that are planned, so all ranks must be
    // known. Passes that wait do not get beyond their slots.
    if (pending_ranks.awaits_rank(pass) || pending_ranks.awaits_job(pass)) continue;
    if (!consumers.has_readers(pass)) continue;
    // Other lanes of the batch are written by nobody: this host's ranks never read those rows.
    const bool leaves = !jobs_missing && is_complete(pass, consumers);
    member.pass->keep_lanes(leaves ? wanted_lanes(pass, consumers, core) : all);
  }
}

}  // namespace echoline::engine
