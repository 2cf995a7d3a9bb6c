// The daemon's control service as functions with Status. One per command; not thread safe.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/daemon_options.h"
#include "echoline/v1/control.pb.h"

namespace echoline::cli {

// `given`, else ECHOLINE_RUNTIME_DIR, else the folder where trainers find a daemon.
std::string runtime_dir_of(const std::string& given);

// A running WatchStats call. One thread calls next, any thread cancel; the call is cancelled with
// it.
class StatsCall {
 public:
  virtual ~StatsCall() = default;

  // Waits for the daemon's next answer.
  virtual Result<v1::WatchStatsResponse> next() = 0;
  // What waits in next, and every later call of it, ends with an error.
  virtual void cancel() = 0;
};

class ControlClient {
 public:
  // Does not connect yet; the first call's error says what is wrong on the way to the daemon, and
  // what to do. Calls have `patience`, but for those that take their time: create and watch.
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
  virtual Status remove(const v1::DeleteStreamRequest& request) = 0;
  // Whether the trainers had taken all that was published, within `patience`.
  virtual Result<bool> drain(const std::string& name, std::chrono::milliseconds patience) = 0;
  virtual Result<v1::SetEchoResponse> set_echo(const v1::SetEchoRequest& request) = 0;
  // Of all streams. The client must outlive the call.
  virtual std::unique_ptr<StatsCall> watch(std::chrono::milliseconds interval) = 0;
};

}  // namespace echoline::cli
