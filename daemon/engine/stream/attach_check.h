// What a trainer asks for at the door, checked against the stream.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "echoline/shm/door.h"
#include "engine/jobs/consumer.h"
#include "engine/open/stream_core.h"
#include "engine/walk/factor_history.h"
#include "plan/position.h"

namespace echoline::engine {

// Ranks, batch size, and the state that comes along: all of it must be of this stream.
Status check_request(const shm::AttachRequest& request, const Job& job, const StreamCore& core);

// Where a job begins, and under which changes of the echo factor.
struct Start {
  plan::Position position;
  FactorHistory factors;
  bool any_factors = false;  // those of whichever pass has the position will do
};

// The changes that a saved state holds.
Result<FactorHistory> factors_of(const shm::AttachRequest& request, const StreamCore& core);

// In the one form: an epoch's end is the next one's beginning. An error for a row that no batch of
// the stream begins at.
Result<plan::Position> settle_position(plan::Position position, const FactorHistory& factors,
                                       const StreamCore& core);

}  // namespace echoline::engine
