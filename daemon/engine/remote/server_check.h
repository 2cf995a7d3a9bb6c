// Asks preparation servers once, before a stream uses them.
#pragma once

#include <vector>

#include "base/status.h"
#include "engine/remote/preparation_client.h"
#include "engine/remote/remote_server.h"

namespace echoline::engine {

// kFailedPrecondition, kPermissionDenied: all servers that answer refuse, and this is why. Ok if
// one does not, or if none answers. Blocks for some seconds at most for each server that is silent.
Status check_servers(const RemoteOptions& options, const HostCredentials& credentials,
                     const std::vector<ServerAddress>& addresses);

// Whether a status means that the server works, but not for this host.
bool is_refusal(grpc::StatusCode code);

}  // namespace echoline::engine
