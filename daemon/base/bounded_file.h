// Reads small files as a whole.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace echoline {

// Reads a regular file or a link to one; other kinds can block or never end, so they are refused.
// Errors name the path. kInvalidArgument: the file is longer than the limit.
Result<std::string> read_bounded_file(const std::string& path, std::size_t bytes_max);

}  // namespace echoline
