// The table of formats.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "record/index/format.h"

namespace echoline::record {

// In the order of the documentation; of equal matches the first one wins.
std::span<const Format* const> formats();

// Null for a name that no format has.
const Format* find_format(std::string_view name);

// Whether this value of read.format leaves the choice to the detection.
bool is_auto_format(std::string_view name);

// "webdataset, ..., idx or tokens": every value of read.format except auto, for messages.
std::string format_names();

}  // namespace echoline::record
