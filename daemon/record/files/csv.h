// Parses comma-separated values (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace echoline::record {

// Removes the first row from `text` and returns its fields. A quoted field may contain commas,
// doubled quotes and line ends. kInvalidArgument for an unclosed quote.
Result<std::vector<std::string>> take_csv_row(std::string_view& text);

}  // namespace echoline::record
