// The state that all epochs of a stream share: the checked spec, the table of shards, the lanes,
// and the shape of the echo step.
#pragma once

#include "plan/echo_shape.h"
#include "plan/lanes.h"
#include "plan/plan_spec.h"
#include "plan/shard_order.h"

namespace echoline::plan {

// Immutable; owned jointly by the Plan and its epochs.
struct StreamOrder {
  explicit StreamOrder(PlanSpec checked);

  PlanSpec spec;
  ShardTable shards;
  EvenCut lanes;      // of the records
  EchoDemand demand;  // only used with an echo step
  EchoShape shape;
};

}  // namespace echoline::plan
