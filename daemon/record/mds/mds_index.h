// Parses index.json of a MosaicML data set folder, which names the shards, their columns and
// encodings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/arrays/array_header.h"
#include "record/index/compression.h"

namespace echoline::record {

inline constexpr std::uint64_t kMdsIndexBytesMax = std::uint64_t{1} << 30;

// The kind of a column's bytes.
enum class MdsForm : std::uint8_t {
  kPlain,   // a file or text, as it is
  kNumber,  // one element
  kArray,   // elements, after their type and shape unless the column fixes those
  kUnread,  // not supported: pickles, raw images, lists
};

struct MdsColumn {
  std::string name;
  std::string encoding;  // as written
  MdsForm form = MdsForm::kPlain;
  ElementType type;           // of kNumber
  bool type_inside = false;   // of kArray: each value begins with its type,
  bool shape_inside = false;  // then with its shape
  std::uint32_t bytes = 0;    // of each value; 0: stored in the sample
};

using MdsColumns = std::vector<MdsColumn>;

// The file that a shard is stored in if it is compressed, as a whole.
struct MdsZip {
  std::string name;
  std::uint64_t bytes = 0;
  Compression compression = Compression::kByContent;
};

struct MdsShard {
  std::string name;  // relative to the folder of index.json
  std::uint64_t bytes = 0;
  std::uint64_t samples = 0;
  // Of a compressed shard; `name` and `bytes` are those of its content.
  std::optional<MdsZip> zip;
  std::shared_ptr<const MdsColumns> columns;  // shared by shards of one layout
};

// Whether a text looks like the index of an MDS data set: only its outline is checked.
bool is_mds_index(std::string_view json);

// The shards in order. kDataLoss for any other or inconsistent text, and for names outside the
// folder; kUnimplemented for another version, shard format or compression.
Result<std::vector<MdsShard>> parse_mds_index(std::string_view json);

}  // namespace echoline::record
