// Asks preparation servers for decoded samples: which server, how long it may take, and what
// happens when one is late, busy or gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "decode/sample.h"
#include "engine/api/stats.h"
#include "engine/remote/rendezvous.h"

namespace echoline::engine {

// One request: neighbours of one place.
struct RemoteRun {
  std::uint64_t tag = 0;
  Place place;
  std::vector<std::uint64_t> records;
};

// The answer to a run. kUnavailable: no server can be reached, so that it is not prepared
// elsewhere.
struct RemoteResult {
  std::uint64_t tag = 0;
  Status status;
  // Frames of the first records of the run, checked; at least one. The others have to be asked for
  // again.
  std::vector<std::shared_ptr<Buffer>> frames{};
};

struct RemoteOptions {
  std::string stream;
  std::string fingerprint;                // of the data set and the steps before `prepare`
  std::vector<decode::FieldType> fields;  // what a frame must have
  std::vector<std::string> servers;       // host:port
  std::string certificate;                // files
  std::string key;
  std::string server_ca;
  std::uint32_t concurrency = 32;  // requests in flight at each server
  bool wait = false;               // where no server can be reached: keep trying, answer nothing
};

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

  // Bounds the runs that wait or are in flight.
  virtual bool has_room() const = 0;
  // Whether runs are worth submitting: always, if the options say wait.
  virtual bool is_reachable() const = 0;
  virtual void submit(RemoteRun run) = 0;
  virtual std::vector<RemoteResult> take_results() = 0;

  // All but the local records.
  virtual RemoteStats stats() const = 0;
};

}  // namespace echoline::engine
