// Connects to a control service step by step, to report the step that fails: gRPC's own errors do
// not name it. Free of gRPC.
#pragma once

#include <string>

#include "base/status.h"
#include "cli/daemon_options.h"

namespace echoline::cli {

// Whether a daemon listens on this Unix socket and accepts this user. Does not wait.
Status check_socket_connection(const std::string& path);

// Checks the host name, the connection, the handshake, and whether the daemon accepts this side's
// certificate; each takes at most 5 s. Needs the address and the TLS files of `daemon`.
Status check_tls_connection(const DaemonOptions& daemon);

}  // namespace echoline::cli
