// The state that all epochs of a stream share: the checked spec, the table of shards, the lanes,
// and the shape of the echo step.
#pragma once

#include <optional>

#include "plan/bucket_batches.h"
#include "plan/echo_shape.h"
#include "plan/lanes.h"
#include "plan/order_lists.h"
#include "plan/plan_spec.h"
#include "plan/shard_order.h"

namespace echoline::plan {

// Immutable; owned jointly by the Plan and its epochs.
struct StreamOrder {
  explicit StreamOrder(PlanSpec checked);

  PlanSpec spec;
  ShardTable shards;
  std::uint64_t items;  // of an epoch: all records, or the entries of its list
  std::optional<BucketBatches> batches;  // with buckets
  EvenCut lanes;                         // of the items
  EchoDemand demand;    // only used with an echo step
  EchoShape shape;
  // With lists: where each item of a lane is in the order without echo, which is that of the list.
  std::optional<LaneGrid> list_rows;
  std::uint32_t draws_per_item;  // numbers of draws that an item's uses can have
};

}  // namespace echoline::plan
