// Glob patterns over names with '/' between segments: '*', '?' and [..] match within one segment,
// "\x" is the character x, and a pattern that ends in '/' matches everything below it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace echoline::source {

bool has_glob(std::string_view pattern);

// kInvalidArgument for a '[' that is not closed within its segment.
Status check_glob(std::string_view pattern);

// The pattern without its backslashes: the literal name, if it has no glob characters.
std::string unescape_glob(std::string_view pattern);

// The longest text that every match begins with.
std::string glob_prefix(std::string_view pattern);

// Whether a whole name of several segments matches.
bool glob_matches(std::string_view pattern, std::string_view name);

// Whether one segment matches a pattern without '/'.
bool glob_matches_segment(std::string_view pattern, std::string_view name);

}  // namespace echoline::source
