// Converts nanoseconds to seconds, and sums memory over its uses and waits over their causes.
#include "serve/control/stream_status.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "base/clock.h"
#include "base/processors.h"
#include "base/utf8.h"
#include "serve/monitor/memory_use.h"
#include "serve/monitor/version.h"

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
  // Steps count from row 0 of the epoch, in batches of the job.
  consumer.set_step(stats.batch_size == 0 ? 0 : stats.row / stats.batch_size);
  consumer.set_batches(stats.batches);
  consumer.set_lag_rows(stats.lag_rows);
  consumer.set_pass(stats.pass);
  consumer.set_wait_seconds(
      to_seconds(std::accumulate(stats.wait_ns.begin(), stats.wait_ns.end(), std::uint64_t{0})));
  for (std::size_t cause = 0; cause < stats.wait_ns.size(); ++cause) {
    (*consumer.mutable_wait_seconds_by_cause())[engine::kWaitCauseNames[cause]] =
        to_seconds(stats.wait_ns[cause]);
  }
  for (const auto& [block, factor] : stats.changes) {
    v1::FactorChange& change = *consumer.add_changes();
    change.set_block(block);
    change.set_factor_thousandths(factor);
  }
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
  // The sum of all uses; `checksums` is among them.
  std::uint64_t memory = 0;
  for (const auto& [use, bytes] : stats.memory_bytes) memory += bytes;
  status.set_memory_bytes(memory);
  status.mutable_memory_bytes_by_use()->insert(stats.memory_bytes.begin(),
                                               stats.memory_bytes.end());
  status.set_read_ahead_target_bytes(stats.read_ahead_target_bytes);
  status.set_passes(stats.passes);
  status.mutable_slots()->set_free(stats.slots_free);
  status.mutable_slots()->set_filling(stats.slots_filling);
  status.mutable_slots()->set_published(stats.slots_published);
  (*status.mutable_slow_jobs())["split"] = stats.slow.split;
  (*status.mutable_slow_jobs())["detached"] = stats.slow.detached;
  (*status.mutable_slow_jobs())["refused"] = stats.slow.refused;
  status.set_records_agreed(stats.records_agreed);
  status.set_records_disagreed(stats.records_disagreed);
  status.mutable_records_bad()->insert(stats.records_bad.begin(), stats.records_bad.end());
  for (const engine::MixedSourceStats& source : stats.sources) {
    v1::MixedSource& mixed = *status.add_mixed();
    mixed.set_name(source.name);
    mixed.set_weight_thousandths(source.weight);
    mixed.set_records(source.records);
    mixed.set_records_per_epoch(source.records_per_epoch);
    mixed.set_rows(source.rows);
  }
}

void fill_rates(const source::EndpointRates& stats, std::uint64_t now_ns,
                v1::EndpointRates& rates) {
  rates.set_endpoint(to_utf8(stats.endpoint));
  rates.set_short_answers(stats.short_answers);
  for (const source::RatePoint& measured : stats.points) {
    v1::RatePoint& point = *rates.add_points();
    point.set_in_flight(measured.in_flight);
    point.set_bytes_per_second(measured.bytes_per_second);
    point.set_answer_bytes(measured.answer_bytes);
    point.set_windows(measured.windows);
    // A window can have ended since `now_ns`.
    point.set_age_seconds(to_seconds(now_ns - std::min(now_ns, measured.last_ns)));
  }
}

void fill_source(const engine::StreamStats& stats, v1::Source& source) {
  const source::Counters& counters = stats.source;
  source.set_scheme(stats.source_scheme);
  source.set_requests_ok(counters.requests_ok);
  source.set_requests_retried(counters.requests_retried);
  source.set_requests_failed(counters.requests_failed);
  source.set_bytes(counters.bytes);
  source.set_in_flight(counters.in_flight);
  source.set_limit(counters.limit);
  source.set_checked(counters.checked);
  source.set_hedges_won(counters.hedges_won);
  source.set_hedges_lost(counters.hedges_lost);
  source.set_replaced_won(counters.replaced_won);
  source.set_replaced_lost(counters.replaced_lost);
  for (std::size_t reason = 0; reason < counters.wait_ns.size(); ++reason) {
    (*source.mutable_wait_seconds())[source::kWaitReasonNames[reason]] =
        to_seconds(counters.wait_ns[reason]);
  }
  v1::Latency& latency = *source.mutable_latency();
  latency.mutable_bounds()->Add(source::kLatencyBounds.begin(), source::kLatencyBounds.end());
  latency.mutable_counts()->Add(counters.latencies.counts.begin(), counters.latencies.counts.end());
  latency.set_sum_seconds(to_seconds(counters.latencies.sum_ns));
  source.set_answer_seconds(to_seconds(counters.answer_ns));
  source.set_concurrency(stats.source_concurrency);
  source.set_read_ahead_bytes(stats.read_ahead_bytes);
  const std::uint64_t now_ns = monotonic_ns();
  for (const source::EndpointRates& rates : stats.store_rates) {
    fill_rates(rates, now_ns, *source.add_rates());
  }
}

void fill_indexing(const engine::IndexingStats& stats, v1::Indexing& indexing) {
  indexing.set_shards_done(stats.shards_done);
  indexing.set_shards(stats.shards);
  indexing.set_bytes_done(stats.bytes_done);
  indexing.set_bytes(stats.bytes);
  indexing.set_records(stats.records);
  indexing.set_bytes_per_second(stats.bytes_per_second);
  indexing.set_seconds_left(stats.seconds_left);
}

void fill_cache(const cache::LevelStats& stats, v1::CacheLevel& level) {
  level.set_level(stats.level);
  level.set_hits(stats.hits);
  level.set_misses(stats.misses);
  level.set_hit_bytes(stats.hit_bytes);
  level.set_held_bytes(stats.held_bytes);
  level.set_saved_seconds(to_seconds(stats.saved_ns));
  level.mutable_failures()->insert(stats.failures.begin(), stats.failures.end());
}

void fill_losses(const engine::ReportedLoss& stats, v1::StreamStatus& status) {
  for (std::size_t use = 0; use < stats.rows.size(); ++use) {
    if (stats.rows[use] == 0) continue;
    v1::ReportedLoss& loss = *status.add_reported_losses();
    loss.set_job(stats.job);
    loss.set_use(static_cast<std::uint32_t>(use));
    loss.set_rows(stats.rows[use]);
    loss.set_loss_sum(stats.sums[use]);
  }
}

void fill_work(const engine::StreamStats& stats, v1::StreamStatus& status) {
  for (const engine::StepStats& one : stats.steps) {
    v1::StepCost& step = *status.add_steps();
    step.set_step(one.step);
    step.set_rows(one.rows);
    step.set_seconds(to_seconds(one.ns));
  }
  v1::Preparation& made = *status.mutable_preparation();
  made.set_first_rows(stats.preparation.first_rows);
  made.set_first_seconds(to_seconds(stats.preparation.first_ns));
  made.set_again_rows(stats.preparation.again_rows);
  made.set_again_seconds(to_seconds(stats.preparation.again_ns));
  made.set_timed_seconds(to_seconds(stats.preparation.timed_ns));
  made.set_timed_cpu_seconds(to_seconds(stats.preparation.timed_cpu_ns));
  v1::Fetching& fetched = *status.mutable_fetching();
  fetched.set_records(stats.fetching.records);
  fetched.set_store_records(stats.fetching.store_records);
  fetched.set_store_seconds(to_seconds(stats.fetching.store_ns));
  fetched.set_cache_seconds(to_seconds(stats.fetching.cache_ns));
  fetched.set_idle_seconds(to_seconds(stats.fetching.idle_ns));
  for (std::size_t place = 0; place < stats.fetch_wait_ns.size(); ++place) {
    (*status.mutable_fetch_wait_seconds())[engine::kFetchPlaceNames[place]] =
        to_seconds(stats.fetch_wait_ns[place]);
  }
  for (const auto& [endpoint, ns] : stats.endpoint_wait_ns) {
    (*status.mutable_endpoint_wait_seconds())[to_utf8(endpoint)] = to_seconds(ns);
  }
  for (const auto& [step, ns] : stats.step_wait_ns) {
    (*status.mutable_step_wait_seconds())[step] = to_seconds(ns);
  }
  status.set_record_bytes(stats.record_bytes);
}

void fill_stall_reads(const engine::StallReport& stats, v1::StallReport& report) {
  for (const engine::StallReport::Read& one : stats.reads) {
    v1::StallRead& read = *report.add_reads();
    read.set_address(to_utf8(one.address));
    read.set_offset(one.offset);
    read.set_bytes(one.bytes);
    read.set_records(one.records);
    read.set_seconds(to_seconds(one.age_ns));
  }
  report.set_in_flight(stats.in_flight);
  report.set_records_awaited(stats.records_awaited);
  report.set_store_pause(to_utf8(stats.store_pause));
}

void fill_stall(const engine::StallReport& stats, v1::StallReport& report) {
  for (const std::string& line : stats.lines) report.add_lines(to_utf8(line));
  for (const engine::StallReport::Wait& one : stats.waits) {
    v1::StallWait& wait = *report.add_waits();
    wait.set_job(one.job);
    wait.set_rank(one.rank);
    wait.set_pid(one.pid);
    wait.set_limit(one.limit);
    wait.set_seconds(to_seconds(one.waited_ns));
  }
  report.set_waiting(stats.waiting);
  fill_stall_reads(stats, report);
  report.set_workers_busy(stats.workers_busy);
  report.set_chunks_queued(stats.chunks_queued);
  for (const engine::StallReport::Holder& one : stats.holders) {
    v1::StallHolder& holder = *report.add_holders();
    holder.set_job(one.job);
    holder.set_rank(one.rank);
    holder.set_pid(one.pid);
    holder.set_awaited(one.awaited);
    holder.set_slots(one.slots);
    holder.set_seconds(to_seconds(one.still_ns));
  }
  report.set_all_holders(stats.all_holders);
}

}  // namespace

void fill_stream_status(const engine::StreamStats& stats, v1::StreamStatus& status) {
  status.set_name(stats.name);
  status.set_state(stats.state);
  // Names of objects can have any bytes; protobuf text must be UTF-8.
  status.set_error(to_utf8(stats.error));
  status.set_records(stats.records);
  status.set_shards(stats.shards);
  status.set_rows_per_epoch(stats.rows_per_epoch);
  status.set_batches_per_epoch(stats.batches_per_epoch);
  status.set_batch_size(stats.batch_rows);
  status.set_factor_thousandths(stats.factor);
  status.set_auto_factor(stats.auto_factor);
  status.set_echo_choice(stats.echo_choice);
  status.set_echo_point(stats.echo_point);
  status.set_fingerprint(stats.fingerprint);
  status.set_seed(stats.seed);
  // Only while it is being opened.
  if (stats.indexing.shards > 0) fill_indexing(stats.indexing, *status.mutable_indexing());
  fill_counts(stats, status);
  fill_source(stats, *status.mutable_source());
  for (const auto& level : stats.caches) fill_cache(level, *status.add_caches());
  status.mutable_verdict()->set_limit(stats.verdict.limit);
  status.mutable_verdict()->set_text(to_utf8(stats.verdict.text));
  fill_work(stats, status);
  fill_stall(stats.stall, *status.mutable_stall());
  for (const auto& field : stats.fields) fill_field(field, *status.add_fields());
  for (const auto& consumer : stats.consumers) fill_consumer(consumer, *status.add_consumers());
  for (const auto& one : stats.reported_losses) fill_losses(one, status);
  for (const auto& stage : stats.stages) fill_stage(stage, *status.add_stages());
}

void fill_daemon_status(const engine::EngineStats& stats, v1::DaemonStatus& status) {
  status.set_version(kVersion);
  status.set_workers(stats.workers);
  // Limits of control groups can change, but workers are created only once.
  static const std::uint32_t processors = usable_processors(std::thread::hardware_concurrency());
  status.set_processors(processors);
  status.set_memory_budget_bytes(stats.memory_budget);
  status.set_memory_reserved_bytes(stats.memory_reserved);
  const auto by_use = memory_by_use(stats);
  status.mutable_memory_bytes_by_use()->insert(by_use.begin(), by_use.end());
}

}  // namespace echoline::serve
