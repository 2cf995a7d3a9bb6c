// The call WatchTrace: records what a stream does for some seconds, and sends it in parts.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"
#include "echoline/v1/control.pb.h"
#include "engine/api/engine.h"
#include "serve/control/watchers.h"

namespace echoline::serve {

struct TraceCaller {
  std::string name;
  std::function<bool()> has_left;
  // False if it has left.
  std::function<bool(const v1::WatchTraceResponse&)> send;
};

// Blocks until the time is over, the caller leaves, the stream is deleted or the daemon stops.
Status send_trace(engine::Engine& engine, Watchers& watchers, const v1::WatchTraceRequest& request,
                  const TraceCaller& caller);

}  // namespace echoline::serve
