// The format of a disk cache's log: a header, then one entry per value, only appended.
// docs/caching_internals.md describes how they are written and recovered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cache/record_key.h"

namespace echoline::cache {

inline constexpr std::uint64_t kDiskMagic = 0x3130454843414345;  // "ECACHE01"

// At the start of the log. `used_bytes` changes in place; the check covers the members before it.
struct DiskHeader {
  std::uint64_t magic = kDiskMagic;
  std::uint64_t generation = 0;  // random; a new one means that all values were dropped
  std::uint64_t check = 0;       // of magic and generation
  std::uint64_t used_bytes = 0;  // of log and data; raised before they are written
  std::uint64_t reserved[4] = {};
};

// One value. If two entries have the same location, the later one is valid.
struct DiskEntry {
  Hash128 location;
  std::uint64_t version = 0;
  std::uint64_t offset = 0;  // in the data file
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // of key and value
  std::uint64_t reserved = 0;
  std::uint64_t check = 0;  // of all members before it, and the generation

  std::uint64_t end() const { return offset + bytes; }
};

inline constexpr std::uint64_t kHeaderBytes = sizeof(DiskHeader);
inline constexpr std::uint64_t kEntryBytes = sizeof(DiskEntry);
static_assert(kHeaderBytes == 64 && std::has_unique_object_representations_v<DiskHeader>);
static_assert(kEntryBytes == 64 && std::has_unique_object_representations_v<DiskEntry>);

std::uint64_t check_of(const DiskHeader& header);
std::uint64_t check_of(const DiskEntry& entry, std::uint64_t generation);
inline bool valid(const DiskHeader& header) {
  return header.magic == kDiskMagic && header.check == check_of(header);
}
inline bool valid(const DiskEntry& entry, std::uint64_t generation) {
  return entry.check == check_of(entry, generation);
}

}  // namespace echoline::cache
