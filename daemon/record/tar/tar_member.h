// Parses tar members with all their headers, and WebDataset's naming of the files of a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::record {

enum class TarLink : std::uint8_t { kNone, kHard, kSymbolic };

// One member with all its headers. The views point into the parsed bytes.
struct TarMember {
  std::string_view directory;  // set only if ustar splits a long path
  std::string_view name;       // the path, without `directory`
  TarLink link = TarLink::kNone;
  std::string_view link_name;  // of a link: where it leads, as written
  std::uint64_t header_bytes = 0;
  std::uint64_t data_bytes = 0;
  bool file = false;  // a regular file: not a folder, link, device, ...
  // Name, size or target are from an extension header, whose contents no checksum covers.
  bool extended = false;
  // Headers, data and padding.
  std::uint64_t total_bytes() const;
  // The path, complete.
  std::string path() const;
};

enum class TarStep : std::uint8_t { kMember, kEnd, kNeedMore };

struct TarParse {
  TarStep step = TarStep::kEnd;
  TarMember member;          // kMember
  std::uint64_t needed = 0;  // kNeedMore: from the start of the window
};

// Parses the member whose first header is at the start of `window`, which need not contain its
// data. kEnd for a block of zeros or an empty window. kDataLoss if there is no header.
Result<TarParse> parse_tar_member(std::span<const std::byte> window);

// The parts of a member's path that form a record's name. Nothing for members that belong to no
// record: anything but files and links, names without a dot in the basename, hidden files, and
// WebDataset's "__meta__" files.
struct SampleName {
  std::string_view directory;
  std::string_view stem;       // path up to the first dot of the basename
  std::string_view extension;  // the rest after that dot, as written
  std::string key() const;
  bool has_key(std::string_view key) const;
};
std::optional<SampleName> sample_name(const TarMember& member);

// Whether WebDataset reserves the name: a file "__NAME__" at the top, or a file below a folder
// "__NAME__" at the top.
bool is_meta_file(const TarMember& member);

}  // namespace echoline::record
