// What is told of the streams: the engine's, and those that are kept and never came to it.
#pragma once

#include "engine/api/engine.h"
#include "serve/process/kept_streams.h"

namespace echoline::serve {

// The engine's counters, and a stream that has failed for each that `kept` says so of and the
// engine has none of that name.
engine::EngineStats all_stats(const engine::Engine& engine, const KeptStreams& kept);

}  // namespace echoline::serve
