// Tar members as the reader of a data set sees them, and WebDataset's naming of the files of a
// record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::record {

// One member with all headers that belong to it. Views point into the bytes it was parsed from.
struct TarMember {
  std::string_view directory;  // non-empty only where ustar splits a long path
  std::string_view name;       // the path, or what follows the directory
  std::uint64_t header_bytes = 0;
  std::uint64_t data_bytes = 0;
  bool file = false;  // a regular file: not a folder, link, device, ...
  // Header and data with its padding.
  std::uint64_t total_bytes() const;
};

enum class TarStep : std::uint8_t { kMember, kEnd, kNeedMore };

struct TarParse {
  TarStep step = TarStep::kEnd;
  TarMember member;          // kMember
  std::uint64_t needed = 0;  // kNeedMore: bytes from the start of the window on
};

// Parses the member whose first header stands at the start of `window`; its data need not be in it.
// kEnd at a block of zeros or an empty window. kDataLoss where no header stands.
Result<TarParse> parse_tar_member(std::span<const std::byte> window);

// The parts of a record's name that a member's path gives; nothing for files that belong to no
// record: without a dot in the basename, hidden ones, and WebDataset's "__meta__" files.
struct SampleName {
  std::string_view directory;
  std::string_view stem;       // path up to the first dot of the basename
  std::string_view extension;  // what follows that dot, as written
  std::string key() const;
  bool has_key(std::string_view key) const;
};
std::optional<SampleName> sample_name(const TarMember& member);

}  // namespace echoline::record
