// Bytes as hexadecimal text.
#pragma once

#include <fmt/ranges.h>

#include <cstddef>
#include <span>
#include <string>

namespace echoline {

// Two lower-case digits for each byte.
inline std::string to_hex(std::span<const std::byte> bytes) {
  return fmt::format(
      "{:02x}",
      fmt::join(std::span(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()), ""));
}

}  // namespace echoline
