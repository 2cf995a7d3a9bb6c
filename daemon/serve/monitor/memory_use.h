// The memory of all streams in sum.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/api/stats.h"

namespace echoline::serve {

// Bytes by use. A use that no stream has is present with 0.
inline std::map<std::string, std::uint64_t> memory_by_use(const engine::EngineStats& stats) {
  std::map<std::string, std::uint64_t> by_use = {
      {"ring", 0}, {"window", 0}, {"encoded", 0}, {"cache", 0}};
  for (const engine::StreamStats& stream : stats.streams) {
    for (const auto& [use, bytes] : stream.memory_bytes) by_use[use] += bytes;
  }
  return by_use;
}

}  // namespace echoline::serve
