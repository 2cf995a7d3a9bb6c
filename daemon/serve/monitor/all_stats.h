// The counters of all streams: those of the engine, and kept streams that could not be created.
#pragma once

#include "engine/api/engine.h"
#include "serve/process/kept_streams.h"

namespace echoline::serve {

// The engine's counters, plus a stream in state "failed" for each failed kept stream that the
// engine does not have.
engine::EngineStats all_stats(const engine::Engine& engine, const KeptStreams& kept);

}  // namespace echoline::serve
