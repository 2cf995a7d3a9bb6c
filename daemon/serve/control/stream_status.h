// Converts the engine's counters to messages of the control service. Pure functions.
#pragma once

#include "echoline/v1/control.pb.h"
#include "engine/api/stats.h"

namespace echoline::serve {

void fill_stream_status(const engine::StreamStats& stats, v1::StreamStatus& status);
// Does not set what the engine does not know: connections, and whether the daemon drains.
void fill_daemon_status(const engine::EngineStats& stats, v1::DaemonStatus& status);

}  // namespace echoline::serve
