#include "engine/open/open_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/scheme.h"
#include "config/pipeline.h"
#include "engine/open/fingerprint.h"
#include "engine/open/memory_plan.h"
#include "engine/open/open_cache.h"
#include "engine/open/probe.h"
#include "record/open/open_data_set.h"
#include "source/open/open_source.h"

namespace echoline::engine {
namespace {

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

plan::LastBatch last_batch(const v1::Stream& stream) {
  const std::string& last = config::batch_step(stream).last();
  if (last == "partial") return plan::LastBatch::kPartial;
  return last == "pad" ? plan::LastBatch::kPad : plan::LastBatch::kDrop;
}

plan::PlanSpec plan_spec(const v1::Stream& stream, const record::Index& index) {
  plan::PlanSpec spec;
  spec.seed = stream.seed();
  spec.lanes = stream.lanes();
  spec.batch_rows = config::batch_step(stream).size();
  if (const v1::Shuffle* shuffle = config::shuffle_step(stream)) {
    spec.shuffle_window = shuffle->window();
  }
  spec.echo_point = echo_point(stream);
  spec.factor = config::echo_factor(stream);
  spec.factor_max = config::echo_factor_max(stream);
  if (const v1::Echo* echo = config::echo_step(stream)) {
    spec.echo_window = echo->window();
    spec.allow_repeats = echo->allow_repeats();
  }
  spec.last = last_batch(stream);
  for (const record::Shard& shard : index.shards())
    spec.shard_records.push_back(shard.record_count);
  return spec;
}

ring::RingSpec ring_spec(const v1::Stream& stream, const StreamCore& core) {
  const plan::PlanSpec& plan = core.plan->spec();
  ring::RingSpec spec;
  spec.fields = core.preparer->row_types();
  spec.batch_rows = plan.batch_rows;
  spec.descriptors_live = core.slots;
  spec.slot_count = core.slots;
  if (plan.echo_point == plan::EchoPoint::kBatch) {
    // One more than the window: a batch in delivery.
    spec.slot_count += static_cast<std::uint32_t>(plan.echo_window) + 1;
    spec.flags |= shm::kRingBatchEcho;
  }
  if (!config::publish_step(stream).sealed()) spec.flags &= ~std::uint32_t{shm::kRingSealed};
  switch (plan.last) {
    case plan::LastBatch::kDrop:
      spec.last_batch = shm::kLastDrop;
      break;
    case plan::LastBatch::kPartial:
      spec.last_batch = shm::kLastPartial;
      break;
    case plan::LastBatch::kPad:
      spec.last_batch = shm::kLastPad;
      break;
  }
  spec.plan_version = plan::kPlanVersion;
  spec.rows_per_epoch = core.plan->rows_per_epoch();
  spec.records_per_epoch = core.plan->record_count();
  spec.fingerprint = fingerprint(stream, *core.data_set);
  spec.factor = plan.factor;
  spec.echo_point = static_cast<std::uint32_t>(plan.echo_point);
  spec.seed = plan.seed;
  return spec;
}

SlowPolicy slow_policy(const v1::Stream& stream) {
  const v1::Publish& publish = config::publish_step(stream);
  using enum SlowPolicy::Action;
  const std::uint64_t half_the_slots =
      std::uint64_t{publish.slots() / 2} * config::batch_step(stream).size();
  return {.action = publish.when_slow() == "split"    ? kSplit
                    : publish.when_slow() == "detach" ? kDetach
                                                      : kWait,
          .lag_rows = publish.has_lag() ? publish.lag() : half_the_slots,
          .ring_rows = std::uint64_t{publish.slots()} * config::batch_step(stream).size()};
}

Status check_epoch(const StreamCore& core) {
  const plan::PlanSpec& spec = core.plan->spec();
  if (spec.last == plan::LastBatch::kDrop && core.plan->rows_per_epoch() < spec.batch_rows) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("an epoch has {} rows, less than one batch of {}: lower batch.size, or "
                    "set batch.last to partial or pad",
                    core.plan->rows_per_epoch(), spec.batch_rows));
  }
  return {};
}

Status check_window(const StreamCore& core) {
  if (core.plan->spec().shuffle_window != plan::kWindowAll || core.data_set->random_access()) {
    return {};
  }
  return Status(Code::kInvalidArgument,
                "shuffle.window: all reads records in any order, and the shards are compressed: "
                "give a number of records, or unpack the shards");
}

}  // namespace

Result<OpenedStream> open_stream(const std::string& name, const v1::Stream& stream,
                                 const std::string& state_dir, WorkerPool& pool,
                                 MemoryBudget& budget, const record::ProgressFunction& progress,
                                 std::function<void(const Status&)> fail) {
  OpenedStream opened;
  auto core = std::make_shared<StreamCore>();
  const v1::Read& read = config::read_step(stream);
  core->name = name;
  core->seed = stream.seed();
  core->created_ns = monotonic_ns();
  core->scheme = to_string(scheme_of(read.url(0)).value_or(Scheme::kFile));
  core->pool = &pool;
  const v1::Publish& publish = config::publish_step(stream);
  core->slots = publish.slots();
  core->slow = slow_policy(stream);
  ECHOLINE_ASSIGN(core->access, AccessList::parse("publish.access", {publish.access().begin(),
                                                                     publish.access().end()}));
  core->fail = fail;
  ECHOLINE_ASSIGN(std::unique_ptr<source::Source> source, source::open_source(read));
  ECHOLINE_ASSIGN(core->data_set, record::open_data_set(read, *source, state_dir, progress));
  source = core->data_set->reading(std::move(source));
  const record::Index& index = core->data_set->index();
  if (index.record_count() == 0) return Status(Code::kNotFound, "read.url: no records in it");
  ECHOLINE_ASSIGN(core->plan, plan::Plan::create(plan_spec(stream, index)));
  ECHOLINE_TRY(check_window(*core));
  ECHOLINE_TRY(check_epoch(*core));
  ECHOLINE_ASSIGN(auto decoder, decode::Decoder::compile(config::decode_step(stream)));
  ECHOLINE_ASSIGN(auto chain, augment::Chain::compile(stream, decoder->fields()));
  core->preparer = std::make_unique<batch::Preparer>(
      *core->data_set, std::move(decoder), std::move(chain), core->plan->spec().echo_point);
  ECHOLINE_ASSIGN(const std::uint64_t decoded_bytes, probe_types(*source, *core));
  for (std::size_t worker = 0; worker < pool.worker_count(); ++worker) {
    core->worker_scratch.push_back(core->preparer->make_scratch());
  }
  core->bad_records = std::make_unique<BadRecords>(
      index, BadRecords::Policy{.replace = stream.bad_records().policy() != "fail",
                                .limit = stream.bad_records().limit(),
                                .seed = stream.seed()});
  ECHOLINE_ASSIGN(opened.cache, open_cache(stream, *source, budget, *core));
  core->ring_spec = ring_spec(stream, *core);
  size_pass(read, decoded_bytes, *core);
  const plan::PlanSpec& plan = core->plan->spec();
  core->fetcher = std::make_unique<Fetcher>(
      std::move(source), index, Fetcher::Caches{core->cache.get(), core->samples.get()},
      Fetcher::Options{.wait_on_error = read.on_error() != "fail",
                       .reach = std::max(plan.shuffle_window, plan.echo_window)},
      std::move(fail));
  opened.core = std::move(core);
  return opened;
}

}  // namespace echoline::engine
