// The way to a daemon's control service: over its socket, or over TLS to another host.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "cli/daemon_options.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace echoline::cli {

struct ControlChannel {
  DaemonOptions daemon;  // completed from the environment
  std::shared_ptr<grpc::Channel> channel;
};

// Whether the daemon is not this host's, by its socket.
bool is_elsewhere(const DaemonOptions& daemon);

// Does not connect yet. Wrong or missing files of TLS are errors.
Result<ControlChannel> open_channel(const DaemonOptions& daemon);

// Why a call got no answer, in words: gRPC says no more than that it could not connect. Tries the
// way by itself, which takes up to ten seconds. `grpc_message` is what remains where that finds
// nothing wrong.
Status explain_silence(const DaemonOptions& daemon, const std::string& grpc_message);

}  // namespace echoline::cli
