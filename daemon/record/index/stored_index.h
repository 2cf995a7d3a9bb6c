// The file format of an index: that of a whole data set in the state folder, or that of one shard
// in a sidecar file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/core/index.h"
#include "record/index/record_table.h"

namespace echoline::record {

// The sidecar file of "a.tar" is "a.tar.echoline-index".
inline constexpr std::string_view kShardIndexSuffix = ".echoline-index";

// Shards in order; the table has their records in the same order.
struct StoredIndex {
  std::vector<Shard> shards;
  RecordTable records;
};

// Little-endian; ends with the XXH3 of all bytes before it. Layout 4 if there are parts of records,
// or meta files, else 3 if there are checksums of records, else 2: older versions can
// read what they know.
std::string encode_index(const StoredIndex& index);

// kDataLoss for bytes that encode_index did not write, for another layout, and for records or parts
// that are outside their shard or not ascending.
Result<StoredIndex> decode_index(std::span<const std::byte> bytes);

// Writing is atomic: a temporary file, flushed and renamed.
Status write_index_file(const std::string& path, const StoredIndex& index);
Result<StoredIndex> read_index_file(const std::string& path);

// The sidecar file of one shard. If the shard has a version, the file contains its address and
// version, so that a reader at the same address notices a changed shard. At another address (both
// were copied), or without a version, only the size is compared.
std::string encode_shard_index(const Shard& shard, const RecordTable& records);

// Whether a decoded sidecar index belongs to this shard.
bool is_index_of(const StoredIndex& index, const source::ObjectInfo& shard);

}  // namespace echoline::record
