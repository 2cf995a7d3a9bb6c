// What a stream tells about itself: counters for the metrics, states for `echoline state`.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "config/pipeline.h"
#include "engine/open/fingerprint.h"
#include "engine/open/open_cache.h"
#include "engine/stats/verdict.h"
#include "engine/stream/stream.h"

namespace echoline::engine {
namespace {

void add_definition(const StreamCore& core, const v1::Stream& definition,
                    const PresentFactor& present, StreamStats& stats) {
  const record::Index& index = core.data_set->index();
  const ring::RingSpec& spec = core.ring_spec;
  stats.name = core.name;
  stats.fingerprint = to_hex(spec.fingerprint);
  stats.echo_point = config::to_string(config::echo_place(definition));
  stats.fields = spec.fields;
  stats.records = index.record_count();
  stats.shards = index.shard_count();
  stats.rows_per_epoch = present.rows;
  const bool drop = spec.last_batch == shm::kLastDrop;
  stats.batches_per_epoch =
      (stats.rows_per_epoch + (drop ? 0 : spec.batch_rows - 1)) / spec.batch_rows;
  stats.batch_rows = spec.batch_rows;
  stats.factor = present.factor;
  stats.seed = spec.seed;
  stats.source_scheme = core.scheme;
}

void add_counters(const StreamCore& core, StreamStats& stats) {
  const StreamCounters& counters = *core.counters;
  stats.samples_fresh = counters.samples_fresh.load();
  stats.samples_echoed = counters.samples_echoed.load();
  stats.batches = counters.batches.load();
  stats.records_bad = core.bad_records->counts();
  stats.seconds_to_first_batch = static_cast<double>(counters.first_batch_ns.load()) * 1e-9;
  stats.memory_bytes["window"] = counters.window_bytes.load();
  stats.memory_bytes["encoded"] = counters.encoded_bytes.load();
  stats.source = core.fetcher->source_counters();
  const FetchCounters fetched = core.fetcher->counters();
  stats.records_agreed = fetched.agreed;
  stats.records_disagreed = fetched.disagreed;
  stats.records_ordered = fetched.waiting;
  stats.memory_bytes["cache"] = cache_memory_bytes(core);
  stats.caches = cache_stats(core);
}

}  // namespace

StreamStats Stream::stats() const {
  StreamStats stats;
  add_definition(*core_, definition_, factor_, stats);
  add_counters(*core_, stats);
  stats.state = !failure_.ok() ? "failed" : closed_ ? "drained" : "ready";
  stats.error = failure_.message();
  stats.stages = stages_.stages();
  stats.upstream_downstream_ratio = stages_.upstream_downstream_ratio();
  stats.passes = passes_.size();
  std::uint64_t& ring_bytes = stats.memory_bytes["ring"];
  for (const auto& pass : passes_) {
    ring_bytes += pass->ring().bytes();
    stats.read_ahead_target_bytes += pass->ahead_target_bytes();
    const std::uint64_t published = pass->ring().published() - pass->ring().released();
    const std::uint64_t filling = pass->slots_filling();
    stats.slots_published += published;
    stats.slots_filling += filling;
    stats.slots_free += core_->slots - std::min<std::uint64_t>(core_->slots, published + filling);
  }
  stats.slow = slow_counts_;
  std::map<const Pass*, std::uint64_t> foremost_row;
  for (const Consumer& consumer : consumers_) {
    std::uint64_t& row = foremost_row[consumer.pass.get()];
    row = std::max(row, absolute_row(consumer, consumer.position()));
  }
  for (const Consumer& consumer : consumers_) {
    const plan::Position position = consumer.position();
    const std::uint64_t row = absolute_row(consumer, position);
    const std::uint64_t foremost = foremost_row[consumer.pass.get()];
    const ring::ReaderView view = consumer.pass->ring().view(consumer.reader);
    stats.consumers.push_back({.job = consumer.job.name,
                               .rank = consumer.rank,
                               .world_size = consumer.job.world_size,
                               .batch_size = consumer.job.batch_size,
                               .epoch = position.epoch,
                               .row = position.row,
                               .batches = view.batches,
                               .lag_rows = foremost - std::min(row, foremost),
                               .wait_ns = consumer.waits.by_cause(),
                               .device = view.device,
                               .changes = {}});
    for (const plan::FactorChange& change : changes_of(consumer, position)) {
      stats.consumers.back().changes.emplace_back(change.block, change.factor);
    }
  }
  stats.recent = rate_window_.until(totals(monotonic_ns()));
  stats.verdict = verdict(stats);
  return stats;
}

RecentStats Stream::totals(std::uint64_t now_ns) const {
  const StreamCounters& counters = *core_->counters;
  const source::Counters source = core_->fetcher->source_counters();
  RecentStats totals{.passed_ns = now_ns,
                     .samples_fresh = counters.samples_fresh.load(),
                     .samples_echoed = counters.samples_echoed.load(),
                     .batches = counters.batches.load(),
                     .source_bytes = source.bytes,
                     .attached_ns = attached_ns_,
                     .wait_ns = waited_ns_,
                     .source_wait_ns = source.wait_ns,
                     .stages = stages_.stages()};
  // A record that the last level misses has missed all before; any level's hit is one of the cache.
  for (const cache::LevelStats& level : cache_stats(*core_)) {
    totals.cache_hits += level.hits;
    totals.cache_misses = level.misses;
  }
  return totals;
}

std::map<std::string, std::string> Stream::states() const {
  std::map<std::string, std::string> states;
  for (const Consumer& consumer : consumers_) {
    if (consumer.rank != 0) continue;  // all ranks of a job save the same state after the same step
    const plan::Position position = consumer.position();
    nlohmann::ordered_json state;
    state["version"] = 1;
    state["plan_version"] = core_->ring_spec.plan_version;
    state["fingerprint"] = to_hex(core_->ring_spec.fingerprint);
    state["stream"] = core_->name;
    state["epoch"] = position.epoch;
    state["row"] = position.row;
    state["batch_size"] = consumer.job.batch_size;
    nlohmann::ordered_json& changes = state["changes"] = nlohmann::ordered_json::array();
    for (const plan::FactorChange& change : changes_of(consumer, position)) {
      changes.push_back({change.block, change.factor});
    }
    states[consumer.job.name] = state.dump();
  }
  return states;
}

std::vector<Trainer> Stream::trainers() const {
  std::vector<Trainer> trainers = reattach_barrier_.expected();
  for (const Consumer& consumer : consumers_) {
    trainers.push_back({.stream = core_->name,
                        .job = consumer.job,
                        .rank = consumer.rank,
                        .pid = consumer.peer.pid,
                        .begin_ticks = consumer.begin_ticks});
  }
  return trainers;
}

}  // namespace echoline::engine
