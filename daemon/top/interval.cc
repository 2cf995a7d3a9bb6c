// Counts only grow while a stream exists, so a smaller one means that the stream was created again.
#include "top/interval.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace echoline::top {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double per(double amount, double whole) {
  return whole > 0 ? (amount < 0 ? 0 : amount) / whole : kUnknown;
}

// NaN stays NaN: std::min returns its first argument if the comparison is false.
double share(double amount, double whole) { return std::min(per(amount, whole), 1.0); }

double grown(std::uint64_t before, std::uint64_t now) {
  return now < before ? 0 : static_cast<double>(now - before);
}

template <typename Value>
Value value_at(const google::protobuf::Map<std::string, Value>& map, std::string_view key) {
  const auto found = map.find(std::string(key));
  return found == map.end() ? Value() : found->second;
}

std::vector<StageShares> stages_between(const v1::StreamStatus& before,
                                        const v1::StreamStatus& now) {
  std::vector<StageShares> all;
  for (const v1::Stage& stage : now.stages()) {
    v1::Stage old;
    for (const v1::Stage& one : before.stages()) {
      if (one.name() == stage.name()) old = one;
    }
    const double busy = std::max(0.0, stage.busy_seconds() - old.busy_seconds());
    const double starved = std::max(0.0, stage.starved_seconds() - old.starved_seconds());
    const double blocked = std::max(0.0, stage.blocked_seconds() - old.blocked_seconds());
    const double sum = std::max(busy + starved + blocked, std::numeric_limits<double>::min());
    all.push_back({stage.name(), busy / sum, starved / sum, blocked / sum});
  }
  return all;
}

TrainerInterval trainer_between(const v1::Consumer& before, const v1::Consumer& now,
                                double seconds) {
  TrainerInterval trainer{.now = now};
  trainer.batches_per_second = per(grown(before.batches(), now.batches()), seconds);
  trainer.wait_share = share(now.wait_seconds() - before.wait_seconds(), seconds);
  for (std::size_t i = 0; i < kWaitCauses.size(); ++i) {
    const double waited = value_at(now.wait_seconds_by_cause(), kWaitCauses[i]) -
                          value_at(before.wait_seconds_by_cause(), kWaitCauses[i]);
    trainer.wait_by_cause[i] = share(waited, seconds);
  }
  return trainer;
}

void add_trainers(const v1::StreamStatus& before, StreamInterval& stream, double seconds) {
  const auto key = [](const v1::Consumer& one) {
    return std::make_tuple(one.job(), one.world_size(), one.batch_size(), one.rank());
  };
  std::map<decltype(key(v1::Consumer())), const v1::Consumer*> known;
  for (const v1::Consumer& one : before.consumers()) known[key(one)] = &one;
  for (const v1::Consumer& one : stream.now.consumers()) {
    const auto found = known.find(key(one));
    stream.trainers.push_back(
        trainer_between(found == known.end() ? v1::Consumer() : *found->second, one, seconds));
  }
  double waits = 0;
  for (const TrainerInterval& trainer : stream.trainers) waits += trainer.wait_share;
  stream.wait_share = per(waits, static_cast<double>(stream.trainers.size()));
}

std::vector<CacheInterval> caches_between(const v1::StreamStatus& before,
                                          const v1::StreamStatus& now, double seconds) {
  std::vector<CacheInterval> all;
  for (const v1::CacheLevel& level : now.caches()) {
    v1::CacheLevel old;
    for (const v1::CacheLevel& one : before.caches()) {
      if (one.level() == level.level()) old = one;
    }
    const double hits = grown(old.hits(), level.hits());
    const double lookups = hits + grown(old.misses(), level.misses());
    double failures = 0;
    for (const auto& [reason, count] : level.failures()) {
      failures += grown(value_at(old.failures(), reason), count);
    }
    all.push_back({.level = level.level(),
                   .lookups_per_second = per(lookups, seconds),
                   .hit_share = per(hits, lookups),
                   .held_bytes = level.held_bytes(),
                   .failures_per_second = per(failures, seconds)});
  }
  return all;
}

// Like Prometheus' histogram_quantile: values are assumed to be evenly distributed in a bucket. The
// last bucket has no upper bound, so its lower bound is returned.
double quantile(const v1::Latency& latency, const std::vector<double>& counts, double share) {
  double all = 0;
  for (const double count : counts) all += count;
  double left = share * all;
  for (int i = 0; i < latency.bounds_size(); ++i) {
    const double count = counts[static_cast<std::size_t>(i)];
    const double low = i == 0 ? 0 : latency.bounds(i - 1);
    if (count > 0 && left <= count) return low + (latency.bounds(i) - low) * left / count;
    left -= count;
  }
  return latency.bounds_size() == 0 ? 0 : latency.bounds(latency.bounds_size() - 1);
}

void add_latency(const v1::Latency& before, SourceInterval& source) {
  const v1::Latency& now = source.now.latency();
  if (now.counts_size() != now.bounds_size() + 1) return;
  std::vector<double> counts;
  double all = 0;
  for (int i = 0; i < now.counts_size(); ++i) {
    counts.push_back(grown(i < before.counts_size() ? before.counts(i) : 0, now.counts(i)));
    all += counts.back();
  }
  if (all == 0) return;
  source.mean_seconds = per(now.sum_seconds() - before.sum_seconds(), all);
  source.p99_seconds = quantile(now, counts, 0.99);
}

SourceInterval source_between(const v1::Source& before, const v1::Source& now, double seconds) {
  SourceInterval source{.now = now};
  const auto rate = [&](std::uint64_t old, std::uint64_t latest) {
    return per(grown(old, latest), seconds);
  };
  source.bytes_per_second = rate(before.bytes(), now.bytes());
  source.requests_per_second = rate(before.requests_ok(), now.requests_ok());
  source.retried_per_second = rate(before.requests_retried(), now.requests_retried());
  source.failed_per_second = rate(before.requests_failed(), now.requests_failed());
  for (const auto& [reason, waited] : now.wait_seconds()) {
    source.waiting[reason] = per(waited - value_at(before.wait_seconds(), reason), seconds);
  }
  add_latency(before.latency(), source);
  return source;
}

StreamInterval stream_between(const v1::StreamStatus& before, const v1::StreamStatus& now,
                              double seconds) {
  StreamInterval stream{.now = now};
  stream.fresh_per_second = per(grown(before.samples_fresh(), now.samples_fresh()), seconds);
  stream.echoed_per_second = per(grown(before.samples_echoed(), now.samples_echoed()), seconds);
  stream.batches_per_second = per(grown(before.batches(), now.batches()), seconds);
  stream.stages = stages_between(before, now);
  stream.caches = caches_between(before, now, seconds);
  stream.source = source_between(before.source(), now.source(), seconds);
  add_trainers(before, stream, seconds);
  return stream;
}

}  // namespace

Interval between(const v1::WatchStatsResponse& before, const v1::WatchStatsResponse& now) {
  Interval interval;
  const bool known = before.has_daemon() && before.monotonic_ns() < now.monotonic_ns();
  if (known) {
    interval.seconds = static_cast<double>(now.monotonic_ns() - before.monotonic_ns()) * 1e-9;
  }
  interval.unix_seconds =
      static_cast<double>(now.time().seconds()) + static_cast<double>(now.time().nanos()) * 1e-9;
  interval.daemon = now.daemon();
  std::map<std::string_view, const v1::StreamStatus*> old;
  // Without an earlier answer no rate is known.
  for (const v1::StreamStatus& stream : (known ? before : now).streams()) {
    old[stream.name()] = &stream;
  }
  for (const v1::StreamStatus& stream : now.streams()) {
    const auto found = old.find(stream.name());
    interval.streams.push_back(stream_between(
        found == old.end() ? v1::StreamStatus() : *found->second, stream, interval.seconds));
  }
  return interval;
}

}  // namespace echoline::top
