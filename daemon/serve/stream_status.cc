// Nanoseconds become seconds; sums over uses and causes are made here.
#include "serve/stream_status.h"

#include <numeric>

#include "base/clock.h"

namespace echoline::serve {
namespace {

void fill_field(const decode::FieldType& type, v1::Field& field) {
  field.set_name(type.name);
  field.set_dtype(std::string(shm::dtype_name(type.dtype)));
  field.set_ragged(type.ragged);
  for (const std::uint32_t size : type.shape.span()) field.add_shape(size);
}

void fill_consumer(const engine::ConsumerStats& stats, v1::Consumer& consumer) {
  consumer.set_job(stats.job);
  consumer.set_rank(stats.rank);
  consumer.set_world_size(stats.world_size);
  consumer.set_batch_size(stats.batch_size);
  consumer.set_epoch(stats.epoch);
  consumer.set_step(stats.batch_size == 0 ? 0 : stats.row / stats.batch_size);
  consumer.set_batches(stats.batches);
  consumer.set_lag_rows(stats.lag_rows);
  consumer.set_wait_seconds(
      to_seconds(std::accumulate(stats.wait_ns.begin(), stats.wait_ns.end(), std::uint64_t{0})));
}

void fill_stage(const engine::StageStats& stats, v1::Stage& stage) {
  stage.set_name(stats.stage);
  stage.set_busy_seconds(to_seconds(stats.busy_ns));
  stage.set_starved_seconds(to_seconds(stats.starved_ns));
  stage.set_blocked_seconds(to_seconds(stats.blocked_ns));
}

void fill_counts(const engine::StreamStats& stats, v1::StreamStatus& status) {
  status.set_samples_fresh(stats.samples_fresh);
  status.set_samples_echoed(stats.samples_echoed);
  status.set_batches(stats.batches);
  status.set_upstream_downstream_ratio(stats.upstream_downstream_ratio);
  status.set_seconds_to_first_batch(stats.seconds_to_first_batch);
  std::uint64_t memory = 0;
  for (const auto& [use, bytes] : stats.memory_bytes) memory += bytes;
  status.set_memory_bytes(memory);
  status.mutable_records_bad()->insert(stats.records_bad.begin(), stats.records_bad.end());
}

}  // namespace

void fill_stream_status(const engine::StreamStats& stats, v1::StreamStatus& status) {
  status.set_name(stats.name);
  status.set_state(stats.state);
  status.set_error(stats.error);
  status.set_records(stats.records);
  status.set_shards(stats.shards);
  status.set_rows_per_epoch(stats.rows_per_epoch);
  status.set_batches_per_epoch(stats.batches_per_epoch);
  status.set_batch_size(stats.batch_rows);
  status.set_factor_thousandths(stats.factor);
  status.set_echo_point(stats.echo_point);
  status.set_fingerprint(stats.fingerprint);
  status.set_seed(stats.seed);
  fill_counts(stats, status);
  status.mutable_verdict()->set_limit(stats.verdict.limit);
  status.mutable_verdict()->set_text(stats.verdict.text);
  for (const auto& field : stats.fields) fill_field(field, *status.add_fields());
  for (const auto& consumer : stats.consumers) fill_consumer(consumer, *status.add_consumers());
  for (const auto& stage : stats.stages) fill_stage(stage, *status.add_stages());
}

}  // namespace echoline::serve
