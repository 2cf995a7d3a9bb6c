// Times are in seconds, rates per second, shares from 0 to 1; an unknown value is null.
#include "serve/monitor/status_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/clock.h"
#include "base/pluralize.h"
#include "base/shown_address.h"
#include "config/write.h"
#include "serve/monitor/version.h"

namespace echoline::serve {
namespace {

using Json = nlohmann::ordered_json;

// A stream can have millions of addresses; the page shows the first ones.
constexpr int kUrlsShown = 8;

double ratio_of(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// A wait can be charged one tick late, so a share can come out above 1.
double share_of(std::uint64_t part, std::uint64_t all) {
  return std::min(1.0, ratio_of(part, all));
}

// null until there are two notes to compare.
Json recent_json(const engine::RecentStats& recent) {
  if (recent.passed_ns == 0) return nullptr;
  const double seconds = to_seconds(recent.passed_ns);
  const std::uint64_t waited =
      std::accumulate(recent.wait_ns.begin(), recent.wait_ns.end(), std::uint64_t{0});
  const std::uint64_t asked = recent.cache_hits + recent.cache_misses;
  Json json = {{"seconds", seconds},
               {"fresh_per_second", static_cast<double>(recent.samples_fresh) / seconds},
               {"echoed_per_second", static_cast<double>(recent.samples_echoed) / seconds},
               {"batches_per_second", static_cast<double>(recent.batches) / seconds},
               {"source_bytes_per_second", static_cast<double>(recent.source_bytes) / seconds},
               {"cache_hit_share", nullptr},
               {"stall_share", nullptr}};
  // No share of nothing: the value stays null.
  if (asked > 0) json["cache_hit_share"] = share_of(recent.cache_hits, asked);
  if (recent.attached_ns > 0) json["stall_share"] = share_of(waited, recent.attached_ns);
  // If the waits exceed the attached time, scale them to it, so that the causes keep their ratios.
  const std::uint64_t all = std::max(waited, recent.attached_ns);
  for (std::size_t i = 0; i < recent.wait_ns.size(); ++i) {
    json["waits"][engine::kWaitCauseNames[i]] = ratio_of(recent.wait_ns[i], all);
  }
  json["stages"] = Json::array();
  for (const engine::StageStats& stage : recent.stages) {
    // Shares of the stage's own time.
    const std::uint64_t passed = stage.busy_ns + stage.starved_ns + stage.blocked_ns;
    json["stages"].push_back({{"name", stage.stage},
                              {"busy", ratio_of(stage.busy_ns, passed)},
                              {"starved", ratio_of(stage.starved_ns, passed)},
                              {"blocked", ratio_of(stage.blocked_ns, passed)}});
  }
  return json;
}

Json consumer_json(const engine::ConsumerStats& one) {
  Json json = {{"job", one.job},
               {"rank", one.rank},
               {"world_size", one.world_size},
               {"batch_size", one.batch_size},
               {"epoch", one.epoch},
               // Steps count from row 0 of the epoch, in batches of the job.
               {"step", one.batch_size == 0 ? 0 : one.row / one.batch_size},
               {"batches", one.batches},
               {"lag_rows", one.lag_rows}};
  for (std::size_t i = 0; i < one.wait_ns.size(); ++i) {
    json["wait_seconds"][engine::kWaitCauseNames[i]] = to_seconds(one.wait_ns[i]);
  }
  return json;
}

Json cache_json(const cache::LevelStats& level) {
  return {{"level", level.level},           {"hits", level.hits},
          {"misses", level.misses},         {"hit_bytes", level.hit_bytes},
          {"held_bytes", level.held_bytes}, {"saved_seconds", to_seconds(level.saved_ns)},
          {"failures", level.failures}};
}

// Counters since the stream was created, and the mean over all successful answers.
Json source_json(const engine::StreamStats& stream) {
  const source::Counters& source = stream.source;
  const std::uint64_t answers = std::accumulate(source.latencies.counts.begin(),
                                                source.latencies.counts.end(), std::uint64_t{0});
  Json json = {{"scheme", stream.source_scheme},
               {"requests_ok", source.requests_ok},
               {"requests_retried", source.requests_retried},
               {"requests_failed", source.requests_failed},
               {"bytes", source.bytes},
               {"in_flight", source.in_flight},
               {"limit", source.limit},
               {"hedges_won", source.hedges_won},
               {"hedges_lost", source.hedges_lost},
               {"replaced_won", source.replaced_won},
               {"replaced_lost", source.replaced_lost},
               {"mean_request_seconds", nullptr}};
  if (answers > 0) {
    json["mean_request_seconds"] =
        to_seconds(source.latencies.sum_ns) / static_cast<double>(answers);
  }
  for (std::size_t i = 0; i < source.wait_ns.size(); ++i) {
    json["wait_seconds"][source::kWaitReasonNames[i]] = to_seconds(source.wait_ns[i]);
  }
  return json;
}

Json indexing_json(const engine::IndexingStats& indexing) {
  // null once the stream is open.
  if (indexing.shards == 0) return nullptr;
  return {{"shards_done", indexing.shards_done},  {"shards", indexing.shards},
          {"bytes_done", indexing.bytes_done},    {"bytes", indexing.bytes},
          {"records", indexing.records},          {"bytes_per_second", indexing.bytes_per_second},
          {"seconds_left", indexing.seconds_left}};
}

Json stream_json(const engine::StreamStats& stream, const std::string& config) {
  Json json = {{"name", stream.name},
               {"state", stream.state},
               {"error", stream.error},
               {"verdict", {{"limit", stream.verdict.limit}, {"text", stream.verdict.text}}},
               {"indexing", indexing_json(stream.indexing)},
               {"records", stream.records},
               {"shards", stream.shards},
               {"rows_per_epoch", stream.rows_per_epoch},
               {"batches_per_epoch", stream.batches_per_epoch},
               {"batch_size", stream.batch_rows},
               {"echo",
                {{"point", stream.echo_point},
                 {"factor", stream.factor / 1000.0},
                 {"auto", stream.auto_factor},
                 {"choice", stream.echo_choice}}},
               {"upstream_downstream_ratio", nullptr},
               {"samples_fresh", stream.samples_fresh},
               {"samples_echoed", stream.samples_echoed},
               {"batches", stream.batches},
               {"passes", stream.passes},
               {"records_bad", stream.records_bad},
               {"ring",
                {{"free", stream.slots_free},
                 {"filling", stream.slots_filling},
                 {"published", stream.slots_published}}},
               {"memory_bytes", stream.memory_bytes},
               {"recent", recent_json(stream.recent)},
               {"source", source_json(stream)},
               {"caches", Json::array()},
               {"consumers", Json::array()},
               {"config", config}};
  // null while unknown.
  if (stream.upstream_downstream_ratio > 0) {
    json["upstream_downstream_ratio"] = stream.upstream_downstream_ratio;
  }
  for (const cache::LevelStats& level : stream.caches) json["caches"].push_back(cache_json(level));
  for (const auto& one : stream.consumers) json["consumers"].push_back(consumer_json(one));
  return json;
}

Json daemon_json(const engine::EngineStats& stats, const DaemonStats& daemon, double now_seconds) {
  const ProcessStats& process = daemon.process;
  return {{"version", kVersion},
          // Not negative, if the clock was set back.
          {"uptime_seconds", std::max(0.0, now_seconds - process.start_time_seconds)},
          {"draining", daemon.draining},
          {"workers", stats.workers},
          {"tasks_queued", stats.tasks_queued},
          {"connections", daemon.connections},
          {"cpu_seconds", process.cpu_seconds},
          {"memory",
           {{"budget_bytes", stats.memory_budget},
            {"reserved_bytes", stats.memory_reserved},
            {"resident_bytes", process.resident_bytes}}}};
}

}  // namespace

std::string status_json(const engine::EngineStats& stats, const DaemonStats& daemon,
                        const std::map<std::string, std::string>& configs, double now_seconds) {
  Json json = {{"format", kStatusFormat},
               {"daemon", daemon_json(stats, daemon, now_seconds)},
               {"streams", Json::array()}};
  for (const engine::StreamStats& stream : stats.streams) {
    // A stream without a definition is still being opened.
    const auto found = configs.find(stream.name);
    json["streams"].push_back(stream_json(stream, found == configs.end() ? "" : found->second));
  }
  // Names of objects and jobs can contain bytes that are not UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

void show_addresses(v1::Read& read) {
  if (read.has_endpoint()) read.set_endpoint(shown_address(read.endpoint()));
  const int more = read.url_size() - kUrlsShown;
  if (more > 0) {
    // Cut first, so that no time goes into addresses that are not shown.
    read.mutable_url()->DeleteSubrange(kUrlsShown, more);
    read.add_url(fmt::format("... and {} more", more));
  }
  for (std::string& url : *read.mutable_url()) url = shown_address(url);
}

}  // namespace

std::string shown_config(v1::Stream stream) {
  for (v1::Step& step : *stream.mutable_pipeline()) {
    if (step.has_read()) show_addresses(*step.mutable_read());
    if (!step.has_mix()) continue;
    for (v1::MixSource& source : *step.mutable_mix()->mutable_sources()) {
      show_addresses(*source.mutable_read());
    }
  }
  return config::stream_yaml(stream);
}

std::string status_text(const engine::EngineStats& stats) {
  std::string text =
      fmt::format("echolined {}, {}\n", kVersion, pluralize(stats.streams.size(), "stream"));
  for (const engine::StreamStats& stream : stats.streams) {
    text += fmt::format("\n{}: {}\n  {}\n  {} published, {}\n", stream.name, stream.state,
                        stream.verdict.text, pluralize(stream.batches, "batch"),
                        pluralize(stream.consumers.size(), "trainer"));
  }
  return text;
}

}  // namespace echoline::serve
