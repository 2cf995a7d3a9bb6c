// The engine's counters as Prometheus text. Pure function.
#pragma once

#include <cstddef>
#include <string>

#include "engine/stats.h"
#include "serve/control.h"

namespace echoline::serve {

// Exposition format 0.0.4. `connections` is the door's count.
std::string metrics_text(const engine::EngineStats& stats, std::size_t connections,
                         const ControlCounts& control);

}  // namespace echoline::serve
