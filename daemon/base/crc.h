// The CRCs of object stores and TFRecord files that zlib does not have. To continue over several
// pieces, start with 0 and pass the last result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echoline {

std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> bytes);  // Castagnoli
std::uint64_t crc64nvme(std::uint64_t crc, std::span<const std::byte> bytes);

}  // namespace echoline
