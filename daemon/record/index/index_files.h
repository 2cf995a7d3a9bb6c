// Index files that lie next to shards: finds them, and reads many ranges in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "source/core/source.h"

namespace echoline::record {

using IndexFiles = std::map<std::string, source::ObjectInfo>;  // by address
// The addresses at which the index file of a shard may be; the same number for every shard, unless
// several of them are equal.
using IndexNames = std::function<std::vector<std::string>(std::string_view shard_url)>;

// The files in the folders of these shards whose names end in `suffix`: one listing per folder. On
// a web server, which cannot list: the files of the first name that the first shard has. Errors
// count as no files.
IndexFiles list_index_files(const std::vector<std::string_view>& shard_urls,
                            std::string_view suffix, const IndexNames& names,
                            source::Source& source);

// A range of an object, for one shard.
struct ShardRead {
  std::size_t shard = 0;
  source::ObjectInfo object;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  // The last answer:
  std::vector<std::byte> buffer = {};
  Status status = {};
  bool checked = false;  // as in source::ReadResult
  std::uint32_t answers = 0;
};

// Reads all ranges, with 64 MiB or one larger range in flight, and passes each answer to `landed`.
// If that returns false, the range is requested again. Nothing else may be in flight. Blocks.
void read_all(source::Source& source, std::vector<ShardRead>& reads,
              const std::function<bool(ShardRead&)>& landed);

}  // namespace echoline::record
