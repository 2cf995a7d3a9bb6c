// Compressed files: their kinds, by name and by their first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"

namespace echoline::record {

// kByContent: what the first bytes say.
enum class Compression : std::uint8_t { kByContent, kGzip, kZlib, kZstd, kBzip2, kBrotli, kSnappy };

// "gzip", "zstd", "xz" or "bzip2"; empty for other bytes.
std::string_view compression_of(std::span<const std::byte> head);

// Whether the bytes can be the start of a zlib stream. Other data can begin with such bytes, too:
// of 65,536 pairs of bytes, 32 are possible.
bool may_be_zlib(std::span<const std::byte> head);

// kUnimplemented for a compressed file, with what to do instead.
Status refuse_compressed(std::span<const std::byte> head);

}  // namespace echoline::record
