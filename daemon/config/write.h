// A stream's definition as it would be written in the configuration file, with every value that is
// in force.
#pragma once

#include <string>

#include "echoline/v1/config.pb.h"

namespace echoline::config {

// YAML, one step a line, as below `streams: NAME:`. What is not set is left out. Meant for people:
// sizes and times that have no short exact form are rounded, as values.h says. Pure function.
std::string stream_yaml(const v1::Stream& stream);

}  // namespace echoline::config
