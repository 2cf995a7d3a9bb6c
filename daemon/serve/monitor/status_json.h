// The JSON behind the status page; docs/monitoring.md describes it. Pure functions.
#pragma once

#include <map>
#include <string>

#include "echoline/v1/config.pb.h"
#include "engine/api/stats.h"
#include "serve/monitor/daemon_stats.h"

namespace echoline::serve {

// Raised when a key is removed or changes its meaning. New keys do not raise it.
inline constexpr int kStatusFormat = 1;

// `configs`: the results of shown_config by stream. `now_seconds` is since the epoch.
std::string status_json(const engine::EngineStats& stats, const DaemonStats& daemon,
                        const std::map<std::string, std::string>& configs, double now_seconds);

// The definition as YAML, without secrets, for anybody who can read the metrics: users, passwords
// and queries of addresses are removed. Of many addresses it has the first few.
std::string shown_config(v1::Stream stream);

// A few lines for browsers without JavaScript: daemon, streams, verdicts.
std::string status_text(const engine::EngineStats& stats);

}  // namespace echoline::serve
