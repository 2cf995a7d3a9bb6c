// What the status page shows, as JSON; docs/monitoring.md describes it. Pure functions.
#pragma once

#include <map>
#include <string>

#include "echoline/v1/config.pb.h"
#include "engine/api/stats.h"
#include "serve/monitor/daemon_stats.h"

namespace echoline::serve {

// Raised when a key is taken away or means something else; new keys may come at any time.
inline constexpr int kStatusFormat = 1;

// `configs`: definitions by stream, as shown_config makes them. `now_seconds` is since the epoch.
std::string status_json(const engine::EngineStats& stats, const DaemonStats& daemon,
                        const std::map<std::string, std::string>& configs, double now_seconds);

// The definition as YAML, fit for eyes that may see the metrics: without users, passwords and
// queries of addresses, and with the first few of many.
std::string shown_config(v1::Stream stream);

// A few lines for browsers without scripts: daemon, streams, verdicts.
std::string status_text(const engine::EngineStats& stats);

}  // namespace echoline::serve
