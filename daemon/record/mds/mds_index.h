// MosaicML's data set folder: index.json names the shards, their columns and how each is encoded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/arrays/array_header.h"

namespace echoline::record {

inline constexpr std::uint64_t kMdsIndexBytesMax = std::uint64_t{1} << 30;

// What the bytes of a column are.
enum class MdsForm : std::uint8_t {
  kPlain,   // a file or text, as it is
  kNumber,  // one element
  kArray,   // elements, behind their type and shape where these are not the column's
  kUnread,  // pickles, pictures without a file format, lists
};

struct MdsColumn {
  std::string name;
  std::string encoding;  // as written
  MdsForm form = MdsForm::kPlain;
  ElementType type;           // of kNumber
  bool type_inside = false;   // of kArray: each value begins with its type,
  bool shape_inside = false;  // then with its shape
  std::uint32_t bytes = 0;    // of each value; 0: the sample says it
};

using MdsColumns = std::vector<MdsColumn>;

struct MdsShard {
  std::string name;  // below the folder of index.json
  std::uint64_t bytes = 0;
  std::uint64_t samples = 0;
  std::shared_ptr<const MdsColumns> columns;  // shards of one layout share them
};

// Whether a text is the index of an MDS data set, as far as its outline tells.
bool is_mds_index(std::string_view json);

// The shards in order. kDataLoss for another text or an inconsistent one, kUnimplemented for
// another version, shard format or compressed shards. Names that lead out of the folder are
// kDataLoss.
Result<std::vector<MdsShard>> parse_mds_index(std::string_view json);

}  // namespace echoline::record
