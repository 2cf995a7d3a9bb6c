#include "engine/open/open_plan.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "config/pipeline.h"

namespace echoline::engine {
namespace {

// config::complete_stream has checked the word, so the last case is `drop`.
plan::LastBatch last_batch(const v1::Stream& stream) {
  const std::string& last = config::batch_step(stream).last();
  if (last == "partial") return plan::LastBatch::kPartial;
  return last == "pad" ? plan::LastBatch::kPad : plan::LastBatch::kDrop;
}

// config::complete_stream has checked the word.
plan::MixEnd mix_end(const v1::Mix& mix) {
  if (mix.at_end() == "drop") return plan::MixEnd::kDrop;
  return mix.at_end() == "repeat" ? plan::MixEnd::kRepeat : plan::MixEnd::kStop;
}

plan::MixSpec mix_spec(const v1::Mix& mix, const record::DataSet& data_set) {
  plan::MixSpec spec;
  spec.at_end = mix_end(mix);
  spec.rows = mix.records();
  for (const v1::MixSource& source : mix.sources()) spec.weights.push_back(source.weight());
  for (const record::Part& part : data_set.source_parts()) spec.shards.push_back(part.shards);
  return spec;
}

plan::PlanSpec plan_spec(const v1::Stream& stream, const record::DataSet& data_set,
                         const OpenedOrder& order) {
  plan::PlanSpec spec;
  spec.seed = stream.seed();
  spec.lanes = stream.lanes();
  spec.batch_rows = config::batch_step(stream).size();
  if (const v1::Shuffle* shuffle = config::shuffle_step(stream)) {
    spec.shuffle_window = shuffle->window();  // 0 with an order
  }
  spec.echo_point = echo_point(stream);
  spec.factor = config::echo_factor(stream);
  spec.factor_max = config::echo_factor_max(stream);
  if (const v1::Echo* echo = config::echo_step(stream)) {
    spec.echo_window = echo->window();
    spec.allow_repeats = echo->allow_repeats();
    spec.within_step = echo->spread() == "step";
  }
  spec.last = last_batch(stream);
  for (const record::Shard& shard : data_set.index().shards())
    spec.shard_records.push_back(shard.record_count);
  spec.order = order.lists;
  spec.buckets = order.buckets;
  if (const v1::Mix* mix = config::mix_step(stream)) spec.mix = mix_spec(*mix, data_set);
  return spec;
}

Status check_plan(const plan::Plan& plan, const record::DataSet& data_set) {
  const plan::PlanSpec& spec = plan.spec();
  // A compressed shard can only be read from its beginning.
  if (spec.scatters_records() && !data_set.random_access()) {
    return Status(
        Code::kInvalidArgument,
        spec.buckets ? "batch.buckets: batches have records of all shards, and the shards are "
                       "compressed: unpack the shards"
        : spec.order ? "shuffle.order: a list can have records in any order, and the shards are "
                       "compressed: unpack the shards, or shuffle by a window"
                     : "shuffle.window: all reads records in any order, and the shards are "
                       "compressed: give a number of records, or unpack the shards");
  }
  if (spec.last != plan::LastBatch::kDrop || plan.rows_per_epoch() >= spec.batch_rows) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("an epoch has {} rows, less than one batch of {}: lower batch.size, or "
                            "set batch.last to partial or pad",
                            plan.rows_per_epoch(), spec.batch_rows));
}

}  // namespace

plan::EchoPoint echo_point(const v1::Stream& stream) {
  switch (config::echo_place(stream)) {
    case config::EchoPlace::kNone:
      return plan::EchoPoint::kNone;
    case config::EchoPlace::kRecord:
      return plan::EchoPoint::kRecord;
    case config::EchoPlace::kSample:
      return plan::EchoPoint::kSample;
    case config::EchoPlace::kAugmented:
      return plan::EchoPoint::kAugmented;
    case config::EchoPlace::kBatch:
      return plan::EchoPoint::kBatch;
  }
  return plan::EchoPoint::kNone;
}

Result<std::unique_ptr<plan::Plan>> open_plan(const v1::Stream& stream,
                                              const record::DataSet& data_set,
                                              const OpenedOrder& order) {
  ECHOLINE_ASSIGN(std::unique_ptr<plan::Plan> plan,
                  plan::Plan::create(plan_spec(stream, data_set, order)));
  ECHOLINE_TRY(check_plan(*plan, data_set));
  return plan;
}

bool can_change_order(const plan::Plan& plan) {
  const plan::PlanSpec& spec = plan.spec();
  const bool factor = plan.block_count() > 0 && spec.factor_max > 1000;
  const bool weights = spec.mix.has_value() && spec.mix->at_end != plan::MixEnd::kStop;
  return factor || weights;
}

}  // namespace echoline::engine
