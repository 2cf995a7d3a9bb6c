// The place of a stream socket in the file system.
#pragma once

#include <string>

#include "base/status.h"

namespace echoline::serve {

// Removes a socket that nobody listens on. A living server's, and a file that is no socket, are
// kAlreadyExists; a path that no socket can have is kInvalidArgument.
Status clear_unix_path(const std::string& path);

}  // namespace echoline::serve
