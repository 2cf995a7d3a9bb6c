// Small files, read whole.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace echoline {

// Of a regular file, or a link to one: nothing else may keep the reader waiting or never end.
// Errors name the path; a file that is longer is kInvalidArgument.
Result<std::string> read_bounded_file(const std::string& path, std::size_t bytes_max);

}  // namespace echoline
