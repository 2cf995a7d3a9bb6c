// An interval as JSON. Pure function.
#pragma once

#include <string>

#include "top/interval.h"

namespace echoline::top {

// One object in one line: the daemon and the stream with this name, or all streams if `stream` is
// empty. An unknown value is null.
std::string interval_json(const Interval& interval, const std::string& stream);

}  // namespace echoline::top
