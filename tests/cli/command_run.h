// Runs `echoline` and captures its output.
#pragma once

#include <string>
#include <vector>

namespace echoline::cli {

struct CommandResult {
  int status = -1;
  std::string out;
  std::string err;
  // The lines of `out`.
  std::vector<std::string> lines() const;
};

// Stdout and stderr are files, not terminals, so there are no progress bars.
CommandResult run_command(const std::vector<std::string>& arguments);

}  // namespace echoline::cli
