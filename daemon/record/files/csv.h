// Comma-separated values as RFC 4180 has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace echoline::record {

// Takes the first row off `text`: a quoted field may hold commas, doubled quotes and line ends.
// kInvalidArgument for a quote that is not closed.
Result<std::vector<std::string>> take_csv_row(std::string_view& text);

}  // namespace echoline::record
