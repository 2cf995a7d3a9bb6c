// Counts what a pass publishes, in the stream's counters.
#pragma once

#include "engine/open/stream_core.h"
#include "engine/pass/in_flight_batch.h"
#include "ring/ring.h"

namespace echoline::engine {

void count_published(const StreamCore& core, ring::Ring& ring, const InFlightBatch& batch);

}  // namespace echoline::engine
