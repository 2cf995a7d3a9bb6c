// The streams that a daemon begins with: those of its configuration, and those that are kept.
#pragma once

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/api/engine.h"
#include "serve/process/kept_streams.h"
#include "serve/process/stop_signal.h"

namespace echoline::serve {

// An error of one of the configuration's ends it. A kept one that cannot be created now has
// failed and stays kept: it is tried again at the next start. Ends early when a stop is requested.
Status create_first_streams(engine::Engine& engine, const v1::Config& config, KeptStreams& kept,
                            const StopSignal& stop);

}  // namespace echoline::serve
