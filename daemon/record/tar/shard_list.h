// WebDataset's own index (wids): a JSON file that names the shards of a data set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/index/listing.h"

namespace echoline::record {

// One shard as the list has it.
struct NamedShard {
  std::string url;          // from the list's folder on, or a whole address
  std::uint64_t bytes = 0;  // 0: not said
};

// Whether a text is such a list, as far as its outline tells.
bool is_shard_list(std::string_view json);

// The shards in order. kDataLoss for a list without shards, or one that is damaged.
Result<std::vector<NamedShard>> parse_shard_list(std::string_view json);

// Puts the shards in the place of each address that is a single .json file with such a list; other
// addresses stay as they are. kDataLoss for a shard of another size than its list says.
Status expand_shard_lists(source::Source& source, std::vector<Listed>& listed);

}  // namespace echoline::record
