// Which server prepares which records: the same choice on every host, and the fewest changes when a
// server comes or goes (Thaler and Ravishankar, 1998).
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string>

namespace echoline::engine {

// A place of a data set: neighbours share it, so that a server's cache has whole runs of them.
struct Place {
  std::uint32_t shard = 0;
  std::uint64_t block = 0;  // offset / kPlaceBytes
  bool operator==(const Place&) const = default;
};
inline constexpr std::uint64_t kPlaceBytes = 4 << 20;

inline Place place_of(std::uint32_t shard, std::uint64_t offset) {
  return {shard, offset / kPlaceBytes};
}

// The server with the highest weight is the first choice for the place.
inline std::uint64_t server_weight(const std::string& server, const Place& place) {
  const std::uint64_t words[] = {place.shard, place.block};
  return XXH3_64bits_withSeed(server.data(), server.size(), XXH3_64bits(&words[0], sizeof words));
}

}  // namespace echoline::engine
