// Checks and repairs UTF-8.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace echoline {

// The number of bytes before the first malformed sequence (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF); the size if there is none.
std::size_t valid_utf8_bytes(std::span<const std::byte> text);

inline bool is_utf8(std::string_view text) {
  return valid_utf8_bytes(std::as_bytes(std::span(text))) == text.size();
}

// The text with each malformed byte replaced by U+FFFD. For names of objects, which can have any
// bytes, where text is needed.
std::string to_utf8(std::string_view text);

}  // namespace echoline
