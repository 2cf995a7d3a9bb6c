// Writes a stream's definition as it would be in the configuration file, including all defaults.
#pragma once

#include <string>

#include "echoline/v1/config.pb.h"

namespace echoline::config {

// YAML, one step per line, as below `streams: NAME:`; values that are not set are left out. It is
// for people to read: sizes and times without a short exact form are rounded. Pure function.
std::string stream_yaml(const v1::Stream& stream);

}  // namespace echoline::config
