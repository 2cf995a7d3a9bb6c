// Lengths in HTTP headers: numbers from the network, parsed strictly.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace echoline::source {

inline std::optional<std::uint64_t> parse_length(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "bytes 10-19/200": bytes [10, 20) of 200; the total may be unknown, "*".
struct ContentRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::optional<std::uint64_t> total;
};

inline std::optional<ContentRange> parse_content_range(std::string_view text) {
  if (!text.starts_with("bytes ")) return std::nullopt;
  text.remove_prefix(6);
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash)
    return std::nullopt;
  const auto first = parse_length(text.substr(0, dash));
  const auto last = parse_length(text.substr(dash + 1, slash - dash - 1));
  const std::string_view total = text.substr(slash + 1);
  if (!first || !last || *last < *first || *last == UINT64_MAX) return std::nullopt;
  if (total == "*") return ContentRange{*first, *last + 1, std::nullopt};
  const auto bytes = parse_length(total);
  if (!bytes || *bytes <= *last) return std::nullopt;
  return ContentRange{*first, *last + 1, bytes};
}

}  // namespace echoline::source
