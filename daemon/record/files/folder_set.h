// Format folder: each file is a record, the first folder below the address is its class.
#pragma once

#include "record/index/format.h"

namespace echoline::record {

// Each file is a shard with one record. Its fields are the file by its extension (after its last
// dot, lower-cased; "data" without one), "cls" (the class id in decimal) and "cls_name"; the key is
// the path below the address. Reuses the listing of an earlier start if there is one
// (folder_listing.h).
extern const Format kFolderFormat;

}  // namespace echoline::record
