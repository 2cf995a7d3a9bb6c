// The magic numbers are those of the compression formats' specifications.
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
