// Counters of the daemon outside its engine.
#pragma once

#include <cstddef>
#include <optional>

#include "serve/monitor/control_counts.h"
#include "serve/monitor/preparation_counts.h"
#include "serve/monitor/process_stats.h"

namespace echoline::serve {

struct DaemonStats {
  std::size_t connections = 0;  // of the door
  bool draining = false;
  ControlCounts control;
  std::optional<PreparationCounts> preparation = std::nullopt;
  ProcessStats process;
};

}  // namespace echoline::serve
