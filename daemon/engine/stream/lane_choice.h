// Which lanes the trainers of this host want; the other lanes are left to other hosts
// (semantics.md, Lanes).
#pragma once

#include "engine/jobs/consumers.h"
#include "engine/jobs/pending_ranks.h"
#include "engine/open/stream_core.h"
#include "engine/stream/pass_set.h"
#include "engine/walk/lane_set.h"

namespace echoline::engine {

// Whether its batches differ from the stream's own: by their size or, until its first epoch ends,
// by the row at which it began.
bool reads_off_grid(const Consumer& consumer, const StreamCore& core);

// The lanes of the rows that this trainer reads.
LaneSet lanes_of(const Consumer& consumer, const StreamCore& core);

// Tells each pass which lanes to prepare, once all ranks of this host read it.
void leave_lanes_to_other_hosts(const StreamCore& core, const PassSet& passes,
                                const Consumers& consumers, const PendingRanks& pending_ranks);

}  // namespace echoline::engine
