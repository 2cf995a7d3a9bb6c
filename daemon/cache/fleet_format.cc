#include "cache/fleet_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace echoline::cache {

// Prefix and format are shared by all hosts: another format needs another prefix.
std::string fleet_item(const RecordKey& key, std::uint32_t part) {
  return fmt::format("el1:{:016x}{:016x}.{}", key.location.high, key.location.low, part);
}

// With the version: a claim for an old object must not hold up the new one.
std::string fleet_claim(const RecordKey& key) {
  return fmt::format("el1c:{:016x}{:016x}.{:016x}", key.location.high, key.location.low,
                     key.version);
}

FleetHead fleet_head(const RecordKey& key, std::uint64_t value_bytes, std::uint32_t part,
                     std::span<const std::byte> part_bytes) {
  FleetHead head;
  head.part = part;
  head.version = key.version;
  head.bytes = value_bytes;
  RecordKey of_part = key;
  // The part number changes the key, so that parts of one value can't be exchanged.
  of_part.location.low += part;
  head.checksum = checksum(of_part, part_bytes);
  return head;
}

FleetVerdict take_fleet_part(const RecordKey& key, std::uint32_t part,
                             std::span<const std::byte> item, std::span<std::byte> destination) {
  FleetHead head;
  if (item.size() < sizeof head) return FleetVerdict::kCorrupt;
  std::memcpy(&head, item.data(), sizeof head);
  if (head.magic != kFleetMagic) return FleetVerdict::kCorrupt;
  // A different length is another version, too.
  if (head.version != key.version || head.bytes != destination.size()) {
    return FleetVerdict::kOtherVersion;
  }
  const std::span<const std::byte> bytes = item.subspan(sizeof head);
  const std::span<std::byte> target = fleet_part(destination, part);
  if (bytes.size() != target.size()) return FleetVerdict::kCorrupt;
  std::copy(bytes.begin(), bytes.end(), target.begin());
  // If the part is bad, `destination` now has wrong bytes. The caller ignores them, because the
  // whole value is a miss then.
  const FleetHead expected = fleet_head(key, destination.size(), part, target);
  return std::memcmp(&expected, &head, sizeof head) == 0 ? FleetVerdict::kGood
                                                         : FleetVerdict::kCorrupt;
}

}  // namespace echoline::cache
