// Parses one 512-byte block of a tar archive (ustar, old GNU and v7 headers) and the records of a
// pax header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"

namespace echoline::record {

inline constexpr std::uint64_t kTarBlock = 512;

// The fields that reading needs. The views point into the block.
struct TarHeader {
  std::string_view prefix;  // ustar only; the path is prefix "/" name
  std::string_view name;
  std::string_view link_name;  // of a link: where it leads
  std::uint64_t bytes = 0;
  char type = '0';
};

// kDataLoss if the checksum of the block is wrong: it is not a header.
Result<TarHeader> parse_tar_header(std::span<const std::byte> block);

// Blocks of zeros mark the end of an archive.
bool is_zero_block(std::span<const std::byte> block);

// The values that a pax header ('x') sets for the next member.
struct PaxOverrides {
  std::optional<std::string_view> path;
  std::optional<std::string_view> link_path;
  std::optional<std::string_view> sparse_name;  // of a sparse file; its header has another name
  std::optional<std::uint64_t> bytes;
  bool sparse = false;
};

// Adds the "LENGTH KEY=VALUE\n" records of `text` to `overrides`, which keeps views into `text`.
Status parse_pax(std::string_view text, PaxOverrides& overrides);

}  // namespace echoline::record
