// Text as bytes, bytes as text, and ASCII case.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace echoline::record {

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Other bytes, such as those of UTF-8 letters, stay as they are.
std::string lower_ascii(std::string_view text);

}  // namespace echoline::record
