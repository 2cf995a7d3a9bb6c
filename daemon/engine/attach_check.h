// What a trainer asks for at the door, checked against the stream.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "echoline/shm/door.h"
#include "engine/consumer.h"
#include "engine/stream_core.h"
#include "plan/position.h"

namespace echoline::engine {

// Ranks, batch size, and the state that comes along: all of it must be of this stream.
Status check_request(const shm::AttachRequest& request, const Job& job, const StreamCore& core);

// Where a job begins, and the factor list of that epoch.
struct Start {
  plan::Position position;
  std::vector<plan::FactorChange> changes;
};

// In the one form: an epoch's end is the next one's beginning. An error for a row that no batch of
// the stream begins at.
Result<Start> settle_start(const shm::AttachRequest& request, plan::Position position,
                           const StreamCore& core);

}  // namespace echoline::engine
