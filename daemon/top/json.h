// An interval for programs. Pure function.
#pragma once

#include <string>

#include "top/interval.h"

namespace echoline::top {

// One object in one line: the daemon, and of the streams the one with that name, or all where it is
// empty. What is not known is null.
std::string interval_json(const Interval& interval, const std::string& stream);

}  // namespace echoline::top
