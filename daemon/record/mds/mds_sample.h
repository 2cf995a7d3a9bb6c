// One sample of an MDS shard: the sizes of what varies, then the columns' values.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "record/core/data_set.h"
#include "record/mds/mds_index.h"

namespace echoline::record {

// A column's name is its field's. Numbers are decimal text, and "NAME[]" their raw element; arrays
// are raw little-endian elements without what stands before them. Columns that are not read have no
// field. kDataLoss where the sizes do not add up.
Status cut_mds_sample(const MdsColumns& columns, std::span<const std::byte> sample, Fields& fields);

}  // namespace echoline::record
