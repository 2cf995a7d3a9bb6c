// Command lines in configuration files, which no shell interprets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace echoline::source {

// The words of a command line, as the AWS CLI and Google's libraries split it (Python's
// shlex.split): quotes and backslashes as in a POSIX shell, but no variables, no ~ and no patterns.
// kInvalidArgument if it has no word or ends within quotes; the message does not repeat it.
Result<std::vector<std::string>> split_command_line(std::string_view line);

}  // namespace echoline::source
