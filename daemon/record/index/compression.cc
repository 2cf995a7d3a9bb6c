// The magic numbers are those of the compression formats' specifications; zlib's header is that of
// RFC 1950.
#include "record/index/compression.h"

#include <fmt/core.h>

namespace echoline::record {

std::string_view compression_of(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with("\x1F\x8B")) return "gzip";
  if (text.starts_with("\x28\xB5\x2F\xFD")) return "zstd";
  if (text.starts_with("\xFD"
                       "7zXZ"))
    return "xz";
  if (text.starts_with("BZh")) return "bzip2";
  return {};
}

bool may_be_zlib(std::span<const std::byte> head) {
  if (head.size() < 2) return false;
  const auto first = std::to_integer<unsigned>(head[0]),
             second = std::to_integer<unsigned>(head[1]);
  constexpr unsigned kDeflate = 8, kWindowMax = 7, kDictionary = 32;
  return (first & 15) == kDeflate && first >> 4 <= kWindowMax && (second & kDictionary) == 0 &&
         (first * 256 + second) % 31 == 0;
}

Status refuse_compressed(std::span<const std::byte> head) {
  const std::string_view compression = compression_of(head);
  if (compression.empty()) return {};
  return Status(
      Code::kUnimplemented,
      fmt::format("the file is compressed ({}), which is not supported here: unpack it, or "
                  "write shards with 'echoline pack'",
                  compression));
}

}  // namespace echoline::record
