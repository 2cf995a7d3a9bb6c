// Keeps the verdicts of users' code over restarts of the daemon: in the state folder, a folder for
// each stream with a file for each of its steps, at most 64 folders.
#pragma once

#include <string>

#include "engine/open/stream_core.h"

namespace echoline::engine {

// From here on. Without a state folder they are kept in memory only.
void keep_verdicts(const std::string& state_dir, const StreamCore& core);
// The stream was deleted.
void remove_verdicts(const std::string& state_dir, const StreamCore& core);

}  // namespace echoline::engine
