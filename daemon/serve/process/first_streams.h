// Creates the daemon's first streams: those of its configuration and those that were kept.
#pragma once

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/api/engine.h"
#include "serve/process/kept_streams.h"
#include "serve/process/stop_signal.h"

namespace echoline::serve {

// Returns the first error of a configured stream. A kept stream that cannot be created is marked as
// failed and stays kept, so the next start tries it again. Returns early if a stop is requested.
Status create_first_streams(engine::Engine& engine, const v1::Config& config, KeptStreams& kept,
                            const StopSignal& stop);

}  // namespace echoline::serve
