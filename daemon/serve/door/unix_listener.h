// Listening sockets in the file system.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// kInvalidArgument: no socket can have this path.
Status check_socket_path(const std::string& path);

// Non-blocking; `kind` is SOCK_STREAM or SOCK_SEQPACKET. Takes over the socket of a dead server;
// that of a living one of either kind, and a file that is no socket, are kAlreadyExists. Nobody
// ever finds it with another mode than this.
Result<UniqueFd> listen_unix(const std::string& path, int kind, mode_t mode);

}  // namespace echoline::serve
