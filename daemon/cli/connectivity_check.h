// Tries the way to a control service step by step, to say at which one it ends. No gRPC in here.
#pragma once

#include <string>

#include "base/status.h"
#include "cli/daemon_options.h"

namespace echoline::cli {

// Whether somebody listens on a daemon's Unix socket and lets this user in.
Status reach_socket(const std::string& path);

// Name, connection, handshake, and whether the daemon takes this side's certificate; five seconds
// for each at most. The address and the files of `daemon` are given.
Status reach_tls(const DaemonOptions& daemon);

}  // namespace echoline::cli
