// Format folder: each file is a record, the first folder below the address is its class.
#pragma once

#include "record/index/format.h"

namespace echoline::record {

// Reuses the listing of an earlier start if there is one (folder_listing.h).
extern const Format kFolderFormat;

}  // namespace echoline::record
