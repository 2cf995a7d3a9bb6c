// The file form of an index: a whole data set's in the daemon's state folder, one shard's beside
// the shard.
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

// Beside "a.tar" stands "a.tar.echoline-index".
inline constexpr std::string_view kShardIndexSuffix = ".echoline-index";

// Shards in order with their records one after another in the table.
struct StoredIndex {
  std::vector<Shard> shards;
  RecordTable records;
};

// Little-endian; ends with the XXH3 of all before it. Layout 2, and 3 where there are checksums of
// records: what has none is written as older versions read it.
std::string encode_index(const StoredIndex& index);

// kDataLoss for bytes that are not exactly what encode_index made (of another layout, too), or
// whose records do not lie within their shards in ascending order.
Result<StoredIndex> decode_index(std::span<const std::byte> bytes);

// Whole files; writing is to a temporary name, flushed, then renamed.
Status write_index_file(const std::string& path, const StoredIndex& index);
Result<StoredIndex> read_index_file(const std::string& path);

// The index file of one shard, to lie beside it. Of a shard with a version it holds address and
// version, so that a reader who finds it beside that very shard notices that the shard is another
// one now; elsewhere (index and shard were copied) and without a version the size has to do.
std::string encode_shard_index(const source::ObjectInfo& shard, const RecordTable& records,
                               std::uint64_t unpacked_bytes = 0);

// Whether an index that encode_shard_index made, read back, is this shard's.
bool is_index_of(const StoredIndex& index, const source::ObjectInfo& shard);

}  // namespace echoline::record
