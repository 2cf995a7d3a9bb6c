// Computes rates and shares from two answers of a daemon. Pure functions. An unknown rate or share
// is NaN: after the first answer, or as a share of zero.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "echoline/v1/control.pb.h"

namespace echoline::top {

// The causes of a trainer's waits, in the order of `wait_by_cause`.
inline constexpr std::array<std::string_view, 5> kWaitCauses = {"fetch", "prep", "publish", "peer",
                                                                "daemon"};

// Shares of the time of a stage's threads. Their sum is 1, or 0 if nothing was measured.
struct StageShares {
  std::string stage;
  double busy = 0;
  double starved = 0;
  double blocked = 0;
};

struct TrainerInterval {
  v1::Consumer now;
  double batches_per_second = 0;
  double wait_share = 0;  // of the interval, at most 1
  std::array<double, kWaitCauses.size()> wait_by_cause{};
};

struct CacheInterval {
  std::string level;
  double lookups_per_second = 0;
  double hit_share = 0;  // of the lookups
  std::uint64_t held_bytes = 0;
  double failures_per_second = 0;
};

struct SourceInterval {
  v1::Source now;
  double bytes_per_second = 0;
  double requests_per_second = 0;  // successful ones
  double retried_per_second = 0;
  double failed_per_second = 0;
  double mean_seconds = 0;  // of a successful request; 0: there was none
  double p99_seconds = 0;
  std::map<std::string, double> waiting{};  // mean number of waiting requests, by reason
};

struct StreamInterval {
  v1::StreamStatus now;
  double fresh_per_second = 0;
  double echoed_per_second = 0;
  double batches_per_second = 0;
  std::vector<StageShares> stages{};
  std::vector<TrainerInterval> trainers{};
  double wait_share = 0;  // mean of the trainers
  std::vector<CacheInterval> caches{};
  SourceInterval source{};
};

struct Interval {
  // 0: there was no earlier answer of this daemon.
  double seconds = 0;
  double unix_seconds = 0;  // of the later answer
  v1::DaemonStatus daemon;
  std::vector<StreamInterval> streams;
};

// `before` may be empty or of an earlier process of the daemon: then all rates are unknown. A
// stream or trainer that is not in `before` is new, so its counts began at 0.
Interval between(const v1::WatchStatsResponse& before, const v1::WatchStatsResponse& now);

}  // namespace echoline::top
