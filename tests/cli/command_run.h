// Runs `echoline` and keeps what it said.
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

// Stdout and stderr are files, so nothing is drawn for a terminal.
CommandResult run_command(const std::vector<std::string>& arguments);

}  // namespace echoline::cli
