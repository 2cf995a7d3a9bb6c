// Listening Unix sockets.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// kInvalidArgument: the path is too long for a socket.
Status check_socket_path(const std::string& path);

// A non-blocking listener; `kind` is SOCK_STREAM or SOCK_SEQPACKET. Replaces the socket of a dead
// server. kAlreadyExists: a live server of either kind listens there, or the file is no socket.
// The socket file has the given mode from the start.
Result<UniqueFd> listen_unix(const std::string& path, int kind, mode_t mode);

}  // namespace echoline::serve
