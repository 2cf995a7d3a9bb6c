// Finds an index of tar shards where there is one, and keeps it: the state folder, the files beside
// the shards.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "record/format.h"
#include "record/stored_index.h"

namespace echoline::record {

// The file of a data set's index in the state folder: named by what the index depends on.
std::string stored_index_path(const v1::Read& read, const std::string& state_dir);

// Shards whose size and version stand in the stored index are taken from it, others from an index
// file beside them whose size fits, the rest is built. A stale or corrupt file is rebuilt with a
// log line, never an error.
Result<StoredIndex> load_or_build_index(const v1::Read& read,
                                        const std::vector<source::ObjectInfo>& shards,
                                        source::Source& source, const std::string& state_dir,
                                        const ProgressFunction& progress);

// Writes an index file beside each shard, for hosts and later runs without a state folder. Shards
// must be files: kUnimplemented says so for stores. Formats that need no index are
// kInvalidArgument. Returns the number written.
Result<std::uint64_t> publish_index(const DataSet& data_set);

}  // namespace echoline::record
