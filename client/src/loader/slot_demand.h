// How many slots of a stream a trainer needs at the same time, and whether its ring has them.
#pragma once

#include <cstdint>

#include "loader/stream_position.h"
#include "mapped_ring/ring_view.h"
#include "system/error.h"

namespace echoline::client {

// Checks that the job's batches fit the ring, from the position on. `overlap`: the trainer releases
// a batch only after it has the next one. INVALID_ARGUMENT: the batch size is not possible with
// this stream; RESOURCE_EXHAUSTED: it has too few slots.
Error check_fit(const RingView& ring, const StreamPosition& position, bool overlap);

}  // namespace echoline::client
