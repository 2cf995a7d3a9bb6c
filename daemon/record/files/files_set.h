// Format files: lists of files. Each line is a record, its columns are fields.
#pragma once

#include "record/index/format.h"

namespace echoline::record {

// Each address is a list (see ListTable). A path in it is relative to the folder of the list, or a
// whole address. With read.classes the column "label" holds names of classes. Sizes and versions of
// local files are kept in the state folder (kept_listing.h).
extern const Format kFilesFormat;

}  // namespace echoline::record
