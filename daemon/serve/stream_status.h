// The engine's counters of one stream as a message of the control service. Pure function.
#pragma once

#include "echoline/v1/control.pb.h"
#include "engine/stats.h"

namespace echoline::serve {

void fill_stream_status(const engine::StreamStats& stats, v1::StreamStatus& status);

}  // namespace echoline::serve
