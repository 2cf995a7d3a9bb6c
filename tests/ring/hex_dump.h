// Bytes as text: 16 per line with their offset, without lines of zeroes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace echoline::ring {

inline std::string hex_dump(std::span<const std::byte> bytes, std::uint64_t offset) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    const auto line = bytes.subspan(at, std::min<std::size_t>(16, bytes.size() - at));
    if (std::all_of(line.begin(), line.end(), [](std::byte b) { return b == std::byte{}; }))
      continue;
    std::string letters;
    text += fmt::format("{:06x} ", offset + at);
    for (const std::byte b : line) {
      const auto value = static_cast<unsigned char>(b);
      text += fmt::format(" {:02x}", value);
      letters += value >= 0x20 && value < 0x7f ? static_cast<char>(value) : '.';
    }
    text += fmt::format("{:{}}  {}\n", "", 3 * (16 - line.size()), letters);
  }
  return text;
}

}  // namespace echoline::ring
