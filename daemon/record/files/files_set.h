// Data sets that are lists of files: each line is a record, its columns are fields.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "record/core/format.h"

namespace echoline::record {

// Each address is a list (see ListTable). Paths in it count from its folder, or are whole
// addresses. With read.classes the column "label" holds names of classes. What is known of local
// files is kept in the state folder (kept_listing.h).
Result<std::unique_ptr<DataSet>> open_files(const v1::Read& read,
                                            const std::vector<source::ObjectInfo>& lists,
                                            source::Source& source, const std::string& state_dir,
                                            const ProgressFunction& progress);

}  // namespace echoline::record
