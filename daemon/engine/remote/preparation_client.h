// Asks preparation servers for decoded samples: which server, how long it may take, and what
// happens when one is late, busy or gone.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "engine/api/stats.h"
#include "engine/remote/remote_options.h"
#include "engine/remote/remote_run.h"

namespace echoline::engine {

// One thread submits and takes results; any thread may call the counters. A thread of its own talks
// to the servers. An interface, so that gRPC stays out of this header.
class PreparationClient {
 public:
  // Reads the files and resolves the names of the servers. `wake` is called when there are results
  // or when is_reachable has changed.
  static Result<std::unique_ptr<PreparationClient>> open(RemoteOptions options,
                                                         std::function<void()> wake);
  // Cancels what is in flight.
  virtual ~PreparationClient() = default;

  // Asks the servers for record 0: kFailedPrecondition, kPermissionDenied or kNotFound if all that
  // answer refuse. Ok if none answers. Blocks for some seconds at most.
  virtual Status check() = 0;

  // Bounds the runs that wait for a server. `wake` is also called when there is room again.
  virtual bool has_room() const = 0;
  // Whether runs are worth submitting: always, if the options say wait.
  virtual bool is_reachable() const = 0;
  virtual void submit(RemoteRun run) = 0;
  virtual std::vector<RemoteResult> take_results() = 0;

  // All but the local records.
  virtual RemoteStats stats() const = 0;
};

}  // namespace echoline::engine
