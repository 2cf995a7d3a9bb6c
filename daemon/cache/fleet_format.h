// How a value lies in memcached: cut into parts that fit its largest item, each with a head that
// says what it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cache/record_key.h"

namespace echoline::cache {

inline constexpr std::uint32_t kFleetMagic = 0x31464c45;  // "ELF1"
// Head and part stay below memcached's default of 1 MiB an item, with what it adds itself.
inline constexpr std::uint64_t kFleetPartBytes = 1'000'000;

struct FleetHead {
  std::uint32_t magic = kFleetMagic;
  std::uint32_t part = 0;
  std::uint64_t version = 0;
  std::uint64_t bytes = 0;     // of the whole value
  std::uint64_t checksum = 0;  // of the key, this part's number and bytes
};
static_assert(sizeof(FleetHead) == 32);

inline std::uint32_t fleet_parts(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + kFleetPartBytes - 1) / kFleetPartBytes +
                                    (bytes == 0 ? 1 : 0));
}
// The part's own bytes of a whole value.
template <typename Byte>
std::span<Byte> fleet_part(std::span<Byte> value, std::uint32_t part) {
  const std::uint64_t begin = part * kFleetPartBytes;
  return value.subspan(begin, std::min<std::uint64_t>(kFleetPartBytes, value.size() - begin));
}

// Names of a part's item, and of the claim to fill the value.
std::string fleet_item(const RecordKey& key, std::uint32_t part);
std::string fleet_claim(const RecordKey& key);

FleetHead fleet_head(const RecordKey& key, std::uint64_t value_bytes, std::uint32_t part,
                     std::span<const std::byte> part_bytes);

// Copies an item's bytes to their place in `destination`, the whole value.
enum class FleetVerdict : std::uint8_t { kGood, kOtherVersion, kCorrupt };
FleetVerdict take_fleet_part(const RecordKey& key, std::uint32_t part,
                             std::span<const std::byte> item, std::span<std::byte> destination);

}  // namespace echoline::cache
