// The content of every object of tests/servers/fault_server.py.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace echoline::source {

inline constexpr std::size_t kObjectBytes = 1 << 20;

inline std::string object_content() {
  std::string bytes(kObjectBytes, 0);
  for (std::uint32_t i = 0; i < kObjectBytes / 4; ++i) {
    const std::uint32_t word = i * 2654435761U;
    std::memcpy(&bytes[i * 4], &word, 4);
  }
  return bytes;
}

}  // namespace echoline::source
