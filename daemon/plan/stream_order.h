// The state that all epochs of a stream share: the checked spec, the table of shards, the lanes,
// and the shape of the echo step.
#pragma once

#include <memory>
#include <optional>

#include "plan/bucket_batches.h"
#include "plan/echo_shape.h"
#include "plan/lanes.h"
#include "plan/order_lists.h"
#include "plan/plan_spec.h"
#include "plan/shuffle_order.h"

namespace echoline::plan {

class Mixture;

// Immutable; owned jointly by the Plan and its epochs.
struct StreamOrder {
  explicit StreamOrder(PlanSpec checked);
  ~StreamOrder();

  PlanSpec spec;
  Shuffled shuffled;                       // only used without lists, mixtures and buckets
  std::unique_ptr<const Mixture> mixture;  // null: one source
  std::uint64_t items;  // of an epoch: records, entries of its list, or rows of a mixture
  std::optional<BucketBatches> batches;  // with buckets
  EvenCut lanes;                         // of the items
  EchoDemand demand;                     // only used with an echo step
  EchoShape shape;
  // With lists or a mixture: where each item of a lane is in the order without echo, which is that
  // of the list or the mixture.
  std::optional<LaneGrid> list_rows;
  std::uint32_t draws_per_item;  // numbers of draws that an item's uses can have
};

}  // namespace echoline::plan
