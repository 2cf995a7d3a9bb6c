// The statistics of one cache level.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace echoline::cache {

struct LevelStats {
  std::string level;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t hit_bytes = 0;
  std::uint64_t saved_ns = 0;                       // the store's time for the hits
  std::uint64_t held_bytes = 0;                     // 0 for a fleet, which does not report it
  std::map<std::string, std::uint64_t> failures{};  // by reason
};

}  // namespace echoline::cache
