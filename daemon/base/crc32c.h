// The checksum of TFRecord files and of Google's storage: CRC-32 with Castagnoli's polynomial.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echoline {

// Of `bytes` after what `crc` is the checksum of; 0 to begin with. Several GB/s where the processor
// has an instruction for it, else about one. Any thread.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace echoline
