// Makes names chosen by others safe to show in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace echoline {

inline constexpr std::size_t kShownNameBytesMax = 200;

// The text, or its beginning and "..." if it is longer. Never cuts inside a UTF-8 character.
std::string cut_text(std::string_view text, std::size_t bytes_max);

// The name as one line of well-formed UTF-8: control characters, marks that change the direction of
// text and invalid bytes become U+FFFD, and a long name is cut.
std::string sanitize_name(std::string_view name);

inline constexpr std::size_t kShownTextBytesMax = 64 << 10;

// A message in the same way, but with tabs and lines: each further line is indented, so that no
// text can look like a line of its own.
std::string sanitize_text(std::string_view text);

// The same for the whole output of a program: lines of its own, of which none is indented or cut.
std::string sanitize_output(std::string_view text);

}  // namespace echoline
