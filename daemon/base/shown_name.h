// Names that others chose, as messages show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace echoline {

inline constexpr std::size_t kShownNameBytesMax = 200;

// The name as one line of well-formed UTF-8: control characters and bytes that are no text become
// U+FFFD, and what is longer than the bound is cut and ends with "...".
std::string shown_name(std::string_view name);

}  // namespace echoline
