#include "plan/stream_order.h"

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

}  // namespace

StreamOrder::StreamOrder(PlanSpec checked)
    : spec(std::move(checked)),
      shards(spec.shard_records),
      lanes(shards.record_count(), spec.lanes),
      demand(echo_demand(spec, shards.record_count())),
      shape(shape_of(spec, demand)) {}

}  // namespace echoline::plan
