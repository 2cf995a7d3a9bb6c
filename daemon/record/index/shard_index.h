// Finds the index of scanned shards where there is one, and keeps it: the state folder, the files
// beside the shards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/core/format.h"
#include "record/index/shard_scan.h"
#include "record/index/stored_index.h"

namespace echoline::record {

// The file of a data set's index in the state folder: named by what the index depends on.
std::string stored_index_path(const v1::Read& read, std::string_view format,
                              const std::string& state_dir);

// Whether opening needs no pass over the shards as far as the state folder tells: the format needs
// none, or its index is there.
bool index_is_known(const v1::Read& read, const std::string& state_dir);

// Shards whose size and version stand in the stored index are taken from it, others from an index
// file beside them whose size fits, the rest is built. A stale or corrupt file is rebuilt with a
// log line, never an error. With Checksums::kOfAll everything is built, and none of them is used.
Result<StoredIndex> load_or_build_index(const v1::Read& read,
                                        const std::vector<source::ObjectInfo>& shards,
                                        const ScannedFormat& format, source::Source& source,
                                        const std::string& state_dir,
                                        const ProgressFunction& progress, Checksums checksums);

}  // namespace echoline::record
