// The private daemons of this user on this host, which loaders with a configuration have started.
#pragma once

#include <string>

namespace echoline::cli {

// Names those that run, and says how to look at one. Empty if there are none, or if the daemon in
// `runtime_dir`, which a command without an address asks, is one of them.
std::string private_daemons_text(const std::string& runtime_dir);

}  // namespace echoline::cli
