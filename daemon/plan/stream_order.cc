#include "plan/stream_order.h"

#include <utility>
#include <vector>

#include "plan/mix_order.h"
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
// begin with records from the middle, and each part of a mixture would have its own shares.
std::optional<LaneGrid> list_rows_of(const PlanSpec& spec, const EvenCut& lanes) {
  if (spec.order == nullptr && !spec.mix) return std::nullopt;
  std::vector<std::uint64_t> rows;
  rows.reserve(spec.lanes);
  for (std::uint32_t lane = 0; lane < spec.lanes; ++lane) rows.push_back(lanes.size(lane));
  return LaneGrid(spec.batch_rows / spec.lanes, std::move(rows));
}

std::unique_ptr<const Mixture> mixture_of(const PlanSpec& spec) {
  return spec.mix ? std::make_unique<const Mixture>(spec) : nullptr;
}

}  // namespace

StreamOrder::StreamOrder(PlanSpec checked)
    : spec(std::move(checked)),
      shuffled(shuffled_of(spec.shard_records, spec.lanes, spec.shuffle_window)),
      mixture(mixture_of(spec)),
      items(item_count(spec, shuffled.shards.record_count())),
      batches(batches_of(spec)),
      lanes(items, spec.lanes),
      demand(echo_demand(spec, items)),
      shape(shape_of(spec, demand)),
      list_rows(list_rows_of(spec, lanes)),
      draws_per_item(plan::draws_per_item(spec)) {}

StreamOrder::~StreamOrder() = default;

}  // namespace echoline::plan
