// Files that the user names for the output of a command. They may be devices or links, so they are
// written in place.
#pragma once

#include <string>

#include "base/status.h"

namespace echoline::cli {

// Whether the file can be written, asked before long work. Changes nothing. `option` is named in
// errors.
Status check_output(const std::string& option, const std::string& path);
// Replaces its content.
Status write_output(const std::string& option, const std::string& path, const std::string& text);

}  // namespace echoline::cli
