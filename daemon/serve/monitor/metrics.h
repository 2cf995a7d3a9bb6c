// The engine's counters as Prometheus text. Pure function.
#pragma once

#include <string>

#include "engine/api/stats.h"
#include "serve/monitor/daemon_stats.h"

namespace echoline::serve {

// Exposition format 0.0.4.
std::string metrics_text(const engine::EngineStats& stats, const DaemonStats& daemon);

}  // namespace echoline::serve
