// Data sets of class folders: each file is a record, the first folder below the address its class.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "record/class_names.h"
#include "record/format.h"
#include "record/listing.h"

namespace echoline::record {

// Hidden files and files in no class folder are left out, with a log line for
// their number. With read.classes a class that its file does not name is kInvalidArgument.
Result<std::unique_ptr<DataSet>> open_folder(const v1::Read& read, std::vector<Listed> listed,
                                             source::Source& source);

}  // namespace echoline::record
