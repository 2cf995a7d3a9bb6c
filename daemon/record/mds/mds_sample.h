// Cuts one sample of an MDS shard: the sizes of variable columns, then the values of all columns.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "record/core/data_set.h"
#include "record/mds/mds_index.h"

namespace echoline::record {

// Each column is a field of the same name. A number is decimal text, and "NAME[]" is its raw
// element. An array is its raw little-endian elements, without type and shape. Unsupported columns
// have no field. kDataLoss if the sizes do not add up.
Status cut_mds_sample(const MdsColumns& columns, std::span<const std::byte> sample, Fields& fields);

}  // namespace echoline::record
