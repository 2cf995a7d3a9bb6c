// Names that others chose, as messages show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace echoline {

inline constexpr std::size_t kShownNameBytesMax = 200;

// The text, or its beginning and "..." where it is longer. Cut before a character of UTF-8.
std::string cut_text(std::string_view text, std::size_t bytes_max);

// The name as one line of well-formed UTF-8: control characters and bytes that are no text become
// U+FFFD, and it is cut.
std::string sanitize_name(std::string_view name);

}  // namespace echoline
