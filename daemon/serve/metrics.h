// The engine's counters as Prometheus text. Pure function.
#pragma once

#include <cstddef>
#include <string>

#include "engine/stats.h"
#include "serve/control.h"
#include "serve/process_stats.h"

namespace echoline::serve {

// What is told of the daemon beside its engine.
struct DaemonStats {
  std::size_t connections = 0;  // of the door
  bool draining = false;
  ControlCounts control;
  ProcessStats process;
};

// Exposition format 0.0.4.
std::string metrics_text(const engine::EngineStats& stats, const DaemonStats& daemon);

}  // namespace echoline::serve
