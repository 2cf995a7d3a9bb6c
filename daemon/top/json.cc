// The names of rates and shares follow those of the counts in `echoline show --json` and /metrics.
#include "top/json.h"

#include <nlohmann/json.hpp>

namespace echoline::top {
namespace {

using Json = nlohmann::ordered_json;

template <typename Items, typename ToJson>
Json list_of(const Items& items, ToJson to_json) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

Json stage_json(const StageShares& stage) {
  return {{"name", stage.stage},
          {"busy", stage.busy},
          {"starved", stage.starved},
          {"blocked", stage.blocked}};
}

Json trainer_json(const TrainerInterval& trainer) {
  Json by_cause = Json::object();
  for (std::size_t i = 0; i < kWaitCauses.size(); ++i) {
    by_cause[std::string(kWaitCauses[i])] = trainer.wait_by_cause[i];
  }
  return {{"job", trainer.now.job()},
          {"rank", trainer.now.rank()},
          {"world_size", trainer.now.world_size()},
          {"epoch", trainer.now.epoch()},
          {"step", trainer.now.step()},
          {"lag_rows", trainer.now.lag_rows()},
          {"batches_per_second", trainer.batches_per_second},
          {"wait_share", trainer.wait_share},
          {"wait_by_cause", by_cause}};
}

Json cache_json(const CacheInterval& cache) {
  return {{"level", cache.level},
          {"lookups_per_second", cache.lookups_per_second},
          {"hit_share", cache.hit_share},
          {"held_bytes", cache.held_bytes},
          {"failures_per_second", cache.failures_per_second}};
}

Json source_json(const SourceInterval& source) {
  Json waiting = Json::object();
  for (const auto& [reason, requests] : source.waiting) waiting[reason] = requests;
  return {{"scheme", source.now.scheme()},
          {"bytes_per_second", source.bytes_per_second},
          {"requests_per_second", source.requests_per_second},
          {"retried_per_second", source.retried_per_second},
          {"failed_per_second", source.failed_per_second},
          {"mean_seconds", source.mean_seconds},
          {"p99_seconds", source.p99_seconds},
          {"in_flight", source.now.in_flight()},
          {"limit", source.now.limit()},
          {"waiting", waiting}};
}

Json stream_json(const StreamInterval& stream) {
  const v1::StreamStatus& now = stream.now;
  Json json = {{"name", now.name()},
               {"state", now.state()},
               {"limit", now.verdict().limit()},
               {"verdict", now.verdict().text()},
               {"echo_point", now.echo_point()},
               {"echo_factor", now.factor_thousandths() / 1000.0},
               {"upstream_downstream_ratio", now.upstream_downstream_ratio()},
               {"fresh_per_second", stream.fresh_per_second},
               {"echoed_per_second", stream.echoed_per_second},
               {"batches_per_second", stream.batches_per_second},
               {"wait_share", stream.wait_share},
               {"memory_bytes", now.memory_bytes()},
               {"passes", now.passes()},
               {"slots",
                {{"free", now.slots().free()},
                 {"filling", now.slots().filling()},
                 {"published", now.slots().published()}}}};
  if (!now.error().empty()) json["error"] = now.error();
  json["stages"] = list_of(stream.stages, stage_json);
  json["source"] = source_json(stream.source);
  json["caches"] = list_of(stream.caches, cache_json);
  json["consumers"] = list_of(stream.trainers, trainer_json);
  return json;
}

}  // namespace

std::string interval_json(const Interval& interval, const std::string& stream) {
  const v1::DaemonStatus& daemon = interval.daemon;
  Json json = {{"time", interval.unix_seconds},
               {"seconds", interval.seconds},
               {"daemon",
                {{"version", daemon.version()},
                 {"workers", daemon.workers()},
                 {"memory_budget_bytes", daemon.memory_budget_bytes()},
                 {"memory_reserved_bytes", daemon.memory_reserved_bytes()},
                 {"door_connections", daemon.door_connections()},
                 {"draining", daemon.draining()}}},
               {"streams", Json::array()}};
  for (const StreamInterval& one : interval.streams) {
    if (stream.empty() || one.now.name() == stream) json["streams"].push_back(stream_json(one));
  }
  // Names can contain bytes that are not UTF-8; they are replaced.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace echoline::top
