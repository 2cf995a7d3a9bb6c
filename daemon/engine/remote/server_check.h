// Asks preparation servers once, before a stream uses them.
#pragma once

#include <vector>

#include "base/status.h"
#include "engine/remote/remote_options.h"
#include "engine/remote/remote_server.h"

namespace echoline::engine {

// kFailedPrecondition, kPermissionDenied: all servers that answer refuse, and this is why. Ok if
// one does not, or if none answers. Blocks for a few seconds at most.
Status check_servers(const RemoteOptions& options, const HostCredentials& credentials,
                     const std::vector<ServerAddress>& addresses);

}  // namespace echoline::engine
