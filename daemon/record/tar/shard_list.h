// Reads the JSON index of WebDataset's wids library, which names the shards of a data set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/index/listing.h"

namespace echoline::record {

// One entry of the list.
struct NamedShard {
  std::string url;          // relative to the folder of the list, or a whole address
  std::uint64_t bytes = 0;  // 0: not in the list
};

// Whether a text looks like such a list: only its outline is checked.
bool is_shard_list(std::string_view json);

// The shards in order. kDataLoss for an empty or damaged list.
Result<std::vector<NamedShard>> parse_shard_list(std::string_view json);

// Replaces each address that is a single .json file with such a list by its shards; other addresses
// stay as they are. kDataLoss if the size of a shard differs from the list.
Status expand_shard_lists(source::Source& source, std::vector<Listed>& listed);

}  // namespace echoline::record
