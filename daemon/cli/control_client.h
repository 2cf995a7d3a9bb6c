// The calls of the daemon's control service as functions with Status. One client per command; not
// thread safe.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/daemon_options.h"
#include "echoline/v1/control.pb.h"

namespace echoline::cli {

// `given`, else ECHOLINE_RUNTIME_DIR, else the client library's default.
std::string runtime_dir_of(const std::string& given);

// A running WatchStats call. One thread calls next(), any thread cancel(). The destructor cancels
// the call.
class StatsCall {
 public:
  virtual ~StatsCall() = default;

  // Waits for the daemon's next answer.
  virtual Result<v1::WatchStatsResponse> next() = 0;
  // A running next(), and every later one, returns an error.
  virtual void cancel() = 0;
};

class ControlClient {
 public:
  // Does not connect yet; the first call's error names the failed step and the remedy. `patience`
  // is the deadline of all calls except create, trace and watch, which take longer.
  static std::unique_ptr<ControlClient> open(
      const DaemonOptions& daemon, std::chrono::milliseconds patience = std::chrono::seconds(10));
  virtual ~ControlClient() = default;

  virtual Result<std::vector<v1::StreamStatus>> list() = 0;
  virtual Result<std::map<std::string, std::string>> states(const std::string& stream) = 0;
  virtual Result<std::vector<std::string>> keys(const std::string& stream,
                                                const std::vector<std::uint64_t>& samples) = 0;
  virtual Result<v1::GetStepResponse> step(const v1::GetStepRequest& request) = 0;
  // Returns when the stream is ready.
  virtual Status create(const v1::CreateStreamRequest& request) = 0;
  // False if there was no such stream, and the request allows that.
  virtual Result<bool> remove(const v1::DeleteStreamRequest& request) = 0;
  // True if the trainers took all published batches within `patience`.
  virtual Result<bool> drain(const std::string& name, std::chrono::milliseconds patience) = 0;
  virtual Result<v1::SetEchoResponse> set_echo(const v1::SetEchoRequest& request) = 0;
  virtual Result<v1::SetWeightsResponse> set_weights(const v1::SetWeightsRequest& request) = 0;
  // `stream` is measured meanwhile.
  virtual Status keep_awake(const std::string& stream, std::chrono::milliseconds duration) = 0;
  // Calls `take` for each part of a trace, until its end or an error of `take`.
  virtual Status trace(const v1::WatchTraceRequest& request,
                       const std::function<Status(const v1::WatchTraceResponse&)>& take) = 0;
  // Watches all streams. The client outlives the call.
  virtual std::unique_ptr<StatsCall> watch(std::chrono::milliseconds interval) = 0;
};

}  // namespace echoline::cli
