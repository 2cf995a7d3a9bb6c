// Format files: lists of files. Each line is a record, its columns are fields.
#pragma once

#include "record/index/format.h"

namespace echoline::record {

// Each address is a list (list_table.h). A path in it is relative to the folder of the list, or a
// whole address. Each file is a shard with one record. Its fields are the file by its extension,
// and the columns of the list by their names, "label" as "cls"; the key is the path in the list.
// With read.classes the column "label" has names of classes. Sizes and versions of local files are
// kept in the state folder (kept_listing.h).
extern const Format kFilesFormat;

}  // namespace echoline::record
