#include "seek/entry.h"

#include <xxhash.h>

namespace echoline::seek {

std::uint64_t checksum_of(jpeg::Bytes file) { return XXH3_64bits(file.data(), file.size()); }

std::uint64_t check_of(std::span<const std::byte> entry, std::uint64_t identity) {
  const auto checked = entry.subspan(sizeof(EntryHead::check));
  return XXH3_64bits_withSeed(checked.data(), checked.size(), identity);
}

}  // namespace echoline::seek
