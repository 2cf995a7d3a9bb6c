// The index of a data set's shards: loaded from the state folder and the sidecar files, and built
// for the shards that neither covers.
#pragma once

#include <vector>

#include "base/status.h"
#include "record/index/format.h"
#include "record/index/shard_scan.h"
#include "record/index/stored_index.h"

namespace echoline::record {

// A shard whose size and version match the stored index is taken from it, any other from a sidecar
// file whose size fits, then from an index file of another program (foreign_index.h); the rest is
// scanned. A stale or corrupt file is rebuilt with a log line,
// never an error. Checksums::kAll scans every shard and uses none of them. The result is stored in
// the state folder if there is one.
Result<StoredIndex> load_or_build_index(const OpenRequest& request,
                                        const std::vector<source::ObjectInfo>& shards,
                                        const ScanSpec& spec);

}  // namespace echoline::record
