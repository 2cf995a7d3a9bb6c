// Opens a gRPC channel to a daemon's control service, over its socket or over TLS.
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

// Whether the daemon is on another host, reached over TLS.
bool is_remote(const DaemonOptions& daemon);

// The usage error of options that cannot name a daemon; else empty.
std::string daemon_misuse(const DaemonOptions& daemon);

// Names, on stderr, the private daemons that run, if `daemon` does not say which daemon it means.
void print_other_daemons(const DaemonOptions& daemon);

// Does not connect yet. Wrong TLS files are errors.
Result<ControlChannel> open_channel(const DaemonOptions& daemon);

// Explains why a call got no answer, because gRPC only reports that it could not connect. It tries
// to connect step by step, which takes up to 10 s. If that succeeds, it returns `grpc_message`.
Status explain_silence(const DaemonOptions& daemon, const std::string& grpc_message);

}  // namespace echoline::cli
