// Opens the data set that a `read` step names.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "record/core/format.h"
#include "record/core/index.h"
#include "record/core/open_options.h"

namespace echoline::v1 {
class Read;
}
namespace echoline::source {
class Source;
}

namespace echoline::record {

// Lists the shards, loads the index from `state_dir` (or from beside the data) when it still fits
// the objects' sizes and versions, and builds and stores it otherwise; with Checksums::kOfAll it is
// built anew. Uses `source` alone, from the calling thread.
Result<std::unique_ptr<DataSet>> open_data_set(const v1::Read& read, source::Source& source,
                                               const std::string& state_dir,
                                               const ProgressFunction& progress,
                                               const OpenOptions& options = {});

}  // namespace echoline::record
