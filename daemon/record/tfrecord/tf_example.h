// Reads tf.train.Example from its wire format; copies only numbers.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "record/core/data_set.h"

namespace echoline::record {

// Each feature is a field of the same name. A bytes list with one value is that value; of several
// values, value i is "NAME[i]". A number list is "NAME[]", raw little-endian int64 or float32
// elements; "NAME" is a single number as decimal text, or the elements of several. A list without
// values has an empty "NAME[]" and no "NAME". Of a repeated feature the first one counts. kDataLoss
// for any other bytes.
Status cut_tf_example(std::span<const std::byte> example, Fields& fields);

}  // namespace echoline::record
