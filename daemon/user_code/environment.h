// The environment of a worker process: what Python needs, and no secrets of the daemon.
#pragma once

#include <string>
#include <vector>

namespace echoline::user_code {

// Lines NAME=value: a fixed list of the daemon's variables, those named in `variables`, and
// settings that give each worker one thread, no GPU, and the same order of sets and dicts in each
// run.
std::vector<std::string> worker_environment(const std::vector<std::string>& variables);

// `configured`, else $ECHOLINE_PYTHON, else python3.
std::string interpreter_or_default(const std::string& configured);

}  // namespace echoline::user_code
