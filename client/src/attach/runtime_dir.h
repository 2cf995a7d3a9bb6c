// Finds the folder of the daemon's sockets. The daemon follows a matching rule.
#pragma once

#include <string>

namespace echoline::client {

// The first that applies:
// 1. `explicit_dir`, if not empty;
// 2. the environment variable ECHOLINE_RUNTIME_DIR;
// 3. the first of $XDG_RUNTIME_DIR/echoline, /run/echoline and /tmp/echoline-<uid> (only if this
//    user owns it) that contains the attach socket;
// 4. $XDG_RUNTIME_DIR/echoline; else /run/echoline if it exists; else /tmp/echoline-<uid>.
// The daemon uses daemon.runtime_dir, else ECHOLINE_RUNTIME_DIR, else $XDG_RUNTIME_DIR/echoline,
// else /run/echoline for root and /tmp/echoline-<uid> for other users.
std::string find_runtime_dir(const std::string& explicit_dir);

}  // namespace echoline::client
