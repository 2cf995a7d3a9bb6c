// Data sets of class folders: each file is a record, the first folder below the address its class.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "record/core/format.h"
#include "record/index/folder_listing.h"
#include "record/index/listing.h"

namespace echoline::record {

// The files of whole folders that are records: hidden files and files in no class folder are left
// out, with a log line for their number.
Result<FileIndex> records_of(std::vector<Listed> listed);

// With read.classes a class that its file does not name is kInvalidArgument.
Result<std::unique_ptr<DataSet>> open_folder(const v1::Read& read, FolderFiles files,
                                             source::Source& source);

}  // namespace echoline::record
