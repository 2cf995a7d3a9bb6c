// Whether bytes are well-formed UTF-8.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace echoline {

// Bytes before the first that is not part of a well-formed sequence (RFC 3629: no overlong forms,
// no surrogates, nothing above U+10FFFF); the size if all are.
std::size_t valid_utf8_bytes(std::span<const std::byte> text);

inline bool is_utf8(std::string_view text) {
  return valid_utf8_bytes(std::as_bytes(std::span(text))) == text.size();
}

// With U+FFFD in the place of each byte that is not part of a well-formed sequence: for names of
// objects, which may be any bytes, where text is wanted.
std::string to_utf8(std::string_view text);

}  // namespace echoline
