// Asks preparation servers once, before a stream uses them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/remote/remote_options.h"
#include "engine/remote/remote_server.h"

namespace echoline::engine {

// kFailedPrecondition, kPermissionDenied: all servers that answer refuse, and this is why. Ok if
// one does not, or if none answers. Blocks for a few seconds at most.
Status check_servers(const RemoteOptions& options, const HostCredentials& credentials,
                     const std::vector<ServerAddress>& addresses);

// Of one server: as it is written, with the address if its name has several. Not ok: it gives no
// answer or refuses, and why.
struct ServerAnswer {
  std::string server;
  Status status;
};
// Asks all servers at the same time, at most kAskedMax of them. Blocks for some seconds at most.
inline constexpr std::size_t kAskedMax = 64;
std::vector<ServerAnswer> ask_servers(const RemoteOptions& options,
                                      const HostCredentials& credentials);

}  // namespace echoline::engine
