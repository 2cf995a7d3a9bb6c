// Opens the data set that a `read` step names.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "record/core/data_set.h"
#include "record/core/index.h"
#include "record/core/open_options.h"

namespace echoline::v1 {
class Read;
}
namespace echoline::source {
class Source;
}

namespace echoline::record {

// Lists the shards and loads the index from `state_dir` (or from the sidecar files) if it still
// fits the objects' sizes and versions; otherwise builds and stores it. Checksums::kAll always
// builds it. Uses `source` on the calling thread only. Blocks.
Result<std::unique_ptr<DataSet>> open_data_set(const v1::Read& read, source::Source& source,
                                               const std::string& state_dir,
                                               const ProgressFunction& progress,
                                               const OpenOptions& options = {});

// Whether open_data_set need not read through all shards, as far as `state_dir` shows: the format
// has no such scan, or its index is stored there. Sidecar files are not looked at.
bool index_is_known(const v1::Read& read, const std::string& state_dir);

}  // namespace echoline::record
