// Recognises compressed files by their first bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/status.h"

namespace echoline::record {

// "gzip", "zstd", "xz" or "bzip2"; empty for other bytes.
std::string_view compression_of(std::span<const std::byte> head);

// kUnimplemented for a compressed file, with what to do instead.
Status refuse_compressed(std::span<const std::byte> head);

}  // namespace echoline::record
