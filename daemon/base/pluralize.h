// A number with its noun for texts that people read: "1 batch", "2 batches".
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace echoline {

// `one` is an English noun with a regular plural: "es" after a sibilant, else "s".
inline std::string pluralize(std::uint64_t count, std::string_view one) {
  if (count == 1) return fmt::format("1 {}", one);
  const bool hiss =
      one.ends_with("ch") || one.ends_with("sh") || one.ends_with('s') || one.ends_with('x');
  return fmt::format("{} {}{}", count, one, hiss ? "es" : "s");
}

}  // namespace echoline
