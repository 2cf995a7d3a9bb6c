// The format of a value in memcached: parts that fit its largest item, each with a header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cache/record_key.h"

namespace echoline::cache {

inline constexpr std::uint32_t kFleetMagic = 0x31464c45;  // "ELF1"
// Header, part and memcached's own overhead stay below its default limit of 1 MiB per item.
inline constexpr std::uint64_t kFleetPartBytes = 1'000'000;

struct FleetHead {
  std::uint32_t magic = kFleetMagic;
  std::uint32_t part = 0;
  std::uint64_t version = 0;
  std::uint64_t bytes = 0;     // of the whole value
  std::uint64_t checksum = 0;  // of the key, the number and the bytes of this part
};
static_assert(sizeof(FleetHead) == 32);

inline std::uint32_t fleet_parts(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + kFleetPartBytes - 1) / kFleetPartBytes +
                                    (bytes == 0 ? 1 : 0));
}
// The bytes of one part of a value.
template <typename Byte>
std::span<Byte> fleet_part(std::span<Byte> value, std::uint32_t part) {
  const std::uint64_t begin = part * kFleetPartBytes;
  return value.subspan(begin, std::min<std::uint64_t>(kFleetPartBytes, value.size() - begin));
}

// The keys of a part's item, and of the claim to fetch the value.
std::string fleet_item(const RecordKey& key, std::uint32_t part);
std::string fleet_claim(const RecordKey& key);

FleetHead fleet_head(const RecordKey& key, std::uint64_t value_bytes, std::uint32_t part,
                     std::span<const std::byte> part_bytes);

// Checks an item and copies its bytes to their part of `destination`, which is the whole value.
enum class FleetVerdict : std::uint8_t { kGood, kOtherVersion, kCorrupt };
FleetVerdict take_fleet_part(const RecordKey& key, std::uint32_t part,
                             std::span<const std::byte> item, std::span<std::byte> destination);

}  // namespace echoline::cache
