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

class ControlClient {
 public:
  // Does not connect yet; the first call's error says what is wrong on the way to the daemon, and
  // what to do.
  static std::unique_ptr<ControlClient> open(const DaemonOptions& daemon);
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
};

}  // namespace echoline::cli
