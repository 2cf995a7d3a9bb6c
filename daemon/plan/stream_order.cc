#include "plan/stream_order.h"

#include <utility>
#include <vector>

#include "plan/spec_check.h"

namespace echoline::plan {
namespace {

// The shape that keeps twins apart if the window allows it. Under batch echo twins don't exist: an
// item is a whole batch.
EchoShape shape_of(const PlanSpec& spec, const EchoDemand& demand) {
  if (spec.echo_point == EchoPoint::kNone || spec.within_step) return {};
  if (spec.echo_point == EchoPoint::kBatch) return shape_with_repeats(demand);
  return keeps_twins_apart(demand) ? shape_without_twins(demand) : shape_with_repeats(demand);
}

std::optional<BucketBatches> batches_of(const PlanSpec& spec) {
  if (spec.buckets == nullptr) return std::nullopt;
  return BucketBatches(spec);
}

// Not the lanes' own runs of the list, one after the other: then a list from easy to hard would
// begin with records from the middle.
std::optional<LaneGrid> list_rows_of(const PlanSpec& spec, const EvenCut& lanes) {
  if (spec.order == nullptr) return std::nullopt;
  std::vector<std::uint64_t> rows;
  rows.reserve(spec.lanes);
  for (std::uint32_t lane = 0; lane < spec.lanes; ++lane) rows.push_back(lanes.size(lane));
  return LaneGrid(spec.batch_rows / spec.lanes, std::move(rows));
}

}  // namespace

StreamOrder::StreamOrder(PlanSpec checked)
    : spec(std::move(checked)),
      shards(spec.shard_records),
      items(item_count(spec, shards.record_count())),
      batches(batches_of(spec)),
      lanes(items, spec.lanes),
      demand(echo_demand(spec, items)),
      shape(shape_of(spec, demand)),
      list_rows(list_rows_of(spec, lanes)),
      draws_per_item(plan::draws_per_item(spec)) {}

}  // namespace echoline::plan
