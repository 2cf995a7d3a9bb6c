// Reads local files that are not data of a stream: indexes, lists of class names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::record {

// The path in "file:/a", "file:///a" or a plain path; nothing for another scheme.
std::optional<std::string> local_path(std::string_view url);

Result<std::string> read_file(const std::string& path);

}  // namespace echoline::record
