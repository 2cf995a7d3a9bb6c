// Where the daemon's sockets are: the same rule on both sides.
#pragma once

#include <string>

namespace echoline::client {

// `explicit_dir` if not empty, else ECHOLINE_RUNTIME_DIR, else the first of
// $XDG_RUNTIME_DIR/echoline, /run/echoline and /tmp/echoline-<uid> (if it is the user's own) with a
// door in it. Where none has one: $XDG_RUNTIME_DIR/echoline, else /run/echoline if it exists, else
// /tmp/echoline-<uid>. The daemon takes daemon.runtime_dir, else ECHOLINE_RUNTIME_DIR, else
// $XDG_RUNTIME_DIR/echoline, else /run/echoline for root and /tmp/echoline-<uid> for others.
std::string find_runtime_dir(const std::string& explicit_dir);

}  // namespace echoline::client
