// The status of the daemon and its streams at one moment, as the control service tells it.
#pragma once

#include <string>

#include "echoline/v1/control.pb.h"
#include "engine/api/stats.h"
#include "serve/control/control_context.h"

namespace echoline::serve {

// The stream's counters, and whether it is kept over a restart.
void fill_stream(const ControlContext& daemon, const engine::StreamStats& stats,
                 v1::StreamStatus& status);
// The daemon's status and that of one stream, or of all if `name` is empty. Without a stream of
// this name, the answer has no stream.
v1::WatchStatsResponse snapshot(const ControlContext& daemon, const std::string& name);

}  // namespace echoline::serve
