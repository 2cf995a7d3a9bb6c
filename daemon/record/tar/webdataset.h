// Data sets of tar shards, WebDataset's naming.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "record/core/format.h"
#include "record/index/shard_scan.h"

namespace echoline::record {

// The index from the state folder where it fits, else from beside the shards, else from a pass over
// them. What had to be built or changed is stored in the state folder; `state_dir` may be empty:
// nothing is stored.
Result<std::unique_ptr<DataSet>> open_webdataset(
    const v1::Read& read, std::vector<source::ObjectInfo> shards, source::Source& source,
    const std::string& state_dir, const ProgressFunction& progress, Checksums checksums);

ScannedFormat tar_format();

// Cuts the bytes of one record, headers included: every file of it is a field. `key` is the
// record's.
Status cut_tar_record(std::string_view key, std::span<const std::byte> bytes, Fields& fields);

}  // namespace echoline::record
