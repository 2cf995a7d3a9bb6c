// A mapping with any keys, as the settings of a plugin, which the schema holds as JSON.
#pragma once

#include <string>

#include "base/status.h"

namespace echoline::config {

inline constexpr int kAnyKeysDepthMax = 16;

// Whether the text is a JSON object of at most kAnyKeysDepthMax levels: a client of the control
// service may send any text.
Status check_any_keys(const std::string& text);

}  // namespace echoline::config
