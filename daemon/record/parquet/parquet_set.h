// Format parquet: files of rows, whose columns are fields.
#pragma once

#include "record/index/format.h"

namespace echoline::record {

// The fields of a record are the columns of a row (row_layout.h); the key is "FILE:NUMBER". Row
// groups are decoded as a whole, to files below the state folder. The first start decodes all of
// every file, for the sizes of the rows.
extern const Format kParquetFormat;

}  // namespace echoline::record
