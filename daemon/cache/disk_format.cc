#include "cache/disk_format.h"

#include <xxhash.h>

namespace echoline::cache {

std::uint64_t check_of(const DiskHeader& header) {
  // Without used_bytes, which changes in place.
  return XXH3_64bits(&header, offsetof(DiskHeader, check));
}

std::uint64_t check_of(const DiskEntry& entry, std::uint64_t generation) {
  // With the generation: entries of an older log at the same place are not valid.
  return XXH3_64bits_withSeed(&entry, offsetof(DiskEntry, check), generation);
}

}  // namespace echoline::cache
