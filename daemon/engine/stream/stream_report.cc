#include "engine/stream/stream_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/pipeline.h"
#include "engine/open/fingerprint.h"
#include "engine/open/open_cache.h"
#include "plan/buckets.h"
#include "plan/mix_rows.h"
#include "plan/order_lists.h"
#include "user_code/workers.h"

namespace echoline::engine {

namespace {

// Of a mixture with these weights.
void report_sources(const StreamCore& core, const v1::Stream& definition, const Weights& weights,
                    StreamStats& stats) {
  const v1::Mix* const mix = config::mix_step(definition);
  if (mix == nullptr) return;
  const plan::PlanSpec& spec = core.plan->spec();
  const std::vector<std::uint64_t> records = plan::source_sizes(spec);
  plan::MixSpec present = *spec.mix;
  present.weights = weights;
  const plan::MixRows rows(present, records);
  for (std::size_t source = 0; source < records.size(); ++source) {
    stats.sources.push_back({.name = mix->sources(static_cast<int>(source)).name(),
                             .weight = weights[source],
                             .records = records[source],
                             .records_per_epoch = rows.taken()[source],
                             .rows = core.counters->source_rows[source].load()});
  }
}

}  // namespace

void report_definition(const StreamCore& core, const v1::Stream& definition,
                       const PresentFactor& present, const Weights& weights, StreamStats& stats) {
  const record::Index& index = core.data_set->index();
  const ring::RingSpec& spec = core.ring_spec;
  stats.name = core.name;
  stats.fingerprint = to_hex(spec.fingerprint);
  // Not of the definition, which may leave the place to the daemon.
  stats.echo_point =
      config::to_string(static_cast<config::EchoPlace>(core.plan->spec().echo_point));
  stats.fields = spec.fields;
  stats.records = index.record_count();
  stats.record_bytes = index.record_bytes_total();
  stats.shards = index.shard_count();
  stats.meta_files = index.meta_files();
  stats.rows_per_epoch = core.plan->valid_rows(present.rows);
  const bool drop = spec.last_batch == shm::kLastDrop;
  // `drop` rounds down, the others round up.
  stats.batches_per_epoch = (present.rows + (drop ? 0 : spec.batch_rows - 1)) / spec.batch_rows;
  stats.batch_rows = spec.batch_rows;
  stats.factor = present.factor;
  stats.auto_factor = core.auto_factor;
  stats.echo_choice = core.echo_choice;
  stats.seed = spec.seed;
  stats.source_scheme = core.scheme;
  for (const v1::Read* read : config::reads_of(definition))
    stats.source_concurrency += read->concurrency();
  stats.read_ahead_bytes = core.read_ahead.most_bytes;
  report_sources(core, definition, weights, stats);
}

namespace {

// What workers and fetcher have done, for the account of time.
void report_work(const StreamCore& core, const FetchCounters& fetched, StreamStats& stats) {
  const StreamCounters& counters = *core.counters;
  const StepAccount::Totals totals = counters.steps.totals();
  for (const auto& [step, cost] : totals.steps) stats.steps.push_back({step, cost.rows, cost.ns});
  stats.preparation = {.first_rows = counters.prepare_first_rows.load(),
                       .first_ns = counters.prepare_first_ns.load(),
                       .again_rows = counters.prepare_again_rows.load(),
                       .again_ns = counters.prepare_again_ns.load(),
                       .timed_ns = totals.timed_ns,
                       .timed_cpu_ns = totals.timed_cpu_ns,
                       .first_times = totals.first_rows,
                       .again_times = totals.again_rows};
  stats.fetching = {.records = fetched.records,
                    .store_records = fetched.store_records,
                    .store_ns = fetched.store_ns,
                    // Read one after the other, so it could be negative for a moment.
                    .cache_ns = fetched.busy_ns - std::min(fetched.busy_ns, fetched.store_ns),
                    .idle_ns = fetched.idle_ns};
}

UserCodeStats user_code_stats(const StreamCore& core) {
  UserCodeStats stats;
  for (const user_code::Workers* workers : core.preparer->chain().user_code()) {
    const user_code::Counters& counters = workers->counters();
    ++stats.steps;
    stats.returned += counters.returned.load();
    stats.raised += counters.raised.load();
    stats.refused += counters.refused.load();
    stats.died += counters.died.load();
    stats.timed_out += counters.timed_out.load();
    stats.repeated += counters.repeated.load();
    stats.ns += counters.ns.load();
    stats.workers += counters.workers.load();
    stats.replaced += counters.replaced.load();
    stats.verdicts += workers->kept().count();
  }
  return stats;
}

}  // namespace

void report_counters(const StreamCore& core, StreamStats& stats) {
  const StreamCounters& counters = *core.counters;
  stats.samples_fresh = counters.samples_fresh.load();
  stats.samples_echoed = counters.samples_echoed.load();
  stats.batches = counters.batches.load();
  // Counters below come from several threads without a common lock: each is exact, their sum is of
  // slightly different moments.
  stats.records_bad = core.bad_records->counts();
  stats.seconds_to_first_batch = static_cast<double>(counters.first_batch_ns.load()) * 1e-9;
  const plan::PlanSpec& spec = core.plan->spec();
  if (spec.order != nullptr) stats.memory_bytes["order"] = spec.order->bytes();
  if (spec.buckets != nullptr) {
    stats.memory_bytes["order"] = plan::Buckets::bytes_for(spec.buckets->record_count());
  }
  stats.memory_bytes["window"] = counters.window_bytes.load();
  stats.memory_bytes["encoded"] = counters.encoded_bytes.load();
  stats.source = core.fetchers->source_counters();
  stats.store_rates = core.fetchers->store_rates();
  const FetchCounters fetched = core.fetchers->counters();
  stats.records_agreed = fetched.agreed;
  stats.records_disagreed = fetched.disagreed;
  stats.records_repeated = fetched.repeated;
  stats.records_replaced = fetched.replaced;
  report_work(core, fetched, stats);
  const decode::ImageCounts& pictures = core.preparer->image_counts();
  stats.pictures = {.jpeg_own = pictures.jpeg.own.load(),
                    .jpeg_libjpeg = pictures.jpeg.libjpeg.load(),
                    .png = pictures.png.load(),
                    .webp = pictures.webp.load(),
                    .avif = pictures.avif.load()};
  stats.user_code = user_code_stats(core);
  if (core.seek_indexes != nullptr) {
    stats.seek_hits = core.seek_indexes->hits();
    stats.seek_misses = core.seek_indexes->misses();
    stats.memory_bytes["seek_index"] = core.seek_indexes->bytes();
  }
  stats.memory_bytes["checksums"] = fetched.checksum_bytes;
  stats.remote = core.fetchers->remote_stats();
  if (core.serves) {
    const std::uint64_t bad = counters.served_bad.load();
    stats.served = {.samples = counters.served_samples.load() - bad,
                    .bad = bad,
                    .bytes = counters.served_bytes.load()};
  }
  stats.records_requested = fetched.waiting;
  stats.memory_bytes["cache"] = cache_memory_bytes(core);
  stats.caches = cache_stats(core);
}

std::map<std::string, std::string> states_of(const StreamCore& core, const Consumers& consumers) {
  std::map<std::string, std::string> states;
  for (const Consumer& consumer : consumers.all()) {
    // All ranks of a job save the same state, so one is enough.
    if (consumer.rank != 0) continue;
    const plan::Position position = consumer.position();
    // Ordered, so that the text of a state is always the same.
    nlohmann::ordered_json state;
    state["version"] = 1;
    state["plan_version"] = core.ring_spec.plan_version;
    state["fingerprint"] = to_hex(core.ring_spec.fingerprint);
    state["stream"] = core.name;
    state["epoch"] = position.epoch;
    state["row"] = position.row;
    state["batch_size"] = consumer.job.batch_size;
    nlohmann::ordered_json& changes = state["changes"] = nlohmann::ordered_json::array();
    // Without changes that begin after the position: a state holds what its order depends on.
    const OrderHistory history = consumer.pass->history().as_of(position);
    for (const plan::FactorChange& change : history.factors.list(position.epoch)) {
      changes.push_back({change.block, change.factor});
    }
    // As the client library, which knows no key without a need.
    for (const plan::WeightChange& change : history.weights.list(position.epoch)) {
      state["weights"].push_back({change.row, change.weights});
    }
    states[consumer.job.name] = state.dump();
  }
  return states;
}

std::vector<Trainer> trainers_of(const StreamCore& core, const std::vector<Trainer>& expected,
                                 const Consumers& consumers) {
  // Those that are still expected stay in the file until they come, or their time is over.
  std::vector<Trainer> trainers = expected;
  for (const Consumer& consumer : consumers.all()) {
    trainers.push_back({.stream = core.name,
                        .job = consumer.job,
                        .rank = consumer.rank,
                        .pid = consumer.peer.pid,
                        .begin_ticks = consumer.begin_ticks});
  }
  return trainers;
}

}  // namespace echoline::engine
