// Parses a text as one YAML document.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::config {

// Longer texts are refused before parsing.
inline constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;

// An empty text, several documents and broken syntax are errors "NAME:LINE:COL: ...".
Result<YAML::Node> parse_yaml(std::string_view text, const std::string& name);

// "NAME:LINE:COL", counted from 1.
std::string at_mark(const std::string& name, const YAML::Mark& mark);

}  // namespace echoline::config
