// Checks the attach request of a trainer against the stream.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "echoline/shm/door.h"
#include "engine/jobs/consumer.h"
#include "engine/open/stream_core.h"
#include "engine/walk/order_history.h"
#include "plan/position.h"

namespace echoline::engine {

// Checks ranks, batch size, and the saved state: it must be of this stream.
Status check_request(const shm::AttachRequest& request, const Job& job, const StreamCore& core);

// Where a trainer begins, and with which changes of the order.
struct Start {
  plan::Position position;
  OrderHistory history;
  bool any_history = false;  // any pass that has the position will do
};

// The changes that a saved state holds.
Result<OrderHistory> history_of(const shm::AttachRequest& request, const StreamCore& core);

// The end of an epoch and the beginning of the next are one position: returns the latter. An error
// for a row at which no batch of the stream begins.
Result<plan::Position> settle_position(plan::Position position, const FactorHistory& factors,
                                       const StreamCore& core);

}  // namespace echoline::engine
