// Which program a worker process runs, and which code that program gets.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "user_code/function.h"

namespace echoline::user_code {

struct Launch {
  std::vector<std::string> words;  // the program and its arguments
  UniqueFd code;                   // its descriptor shm::kWorkerCode
};

// kFailedPrecondition if the library of a plugin was overwritten since it was opened.
Result<Launch> launch_of(const Function& function);

// The program that runs plugins, which is installed with this one. kNotFound if it is not there.
Result<std::string> plugin_runner();

}  // namespace echoline::user_code
