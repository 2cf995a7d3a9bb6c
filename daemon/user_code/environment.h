// The environment of a worker process: what Python needs, and no secrets of the daemon.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "user_code/function.h"

namespace echoline::user_code {

// Lines NAME=value: a fixed list of the daemon's variables, those named in `variables`, and
// settings that give each worker one thread, no GPU, and the same order of sets and dicts in each
// run.
std::vector<std::string> worker_environment(const std::vector<std::string>& variables);

// `configured`, else $ECHOLINE_PYTHON, else python3.
std::string interpreter_or_default(const std::string& configured);

// The user with this name; none for an empty name. kInvalidArgument if there is no such user, or if
// the daemon cannot start processes of others.
Result<std::optional<Account>> account_of(const std::string& user);

// The first words of a command that runs as `account`: a program of the system changes the user,
// its groups and HOME, and then starts the rest of the command. It runs as root, so variables with
// which others could load their code into it are moved from `environment` into the words.
std::vector<std::string> words_to_become(const Account& account,
                                         std::vector<std::string>& environment);

}  // namespace echoline::user_code
