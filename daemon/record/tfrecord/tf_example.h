// tf.train.Example, read from its wire form as it lies: nothing is copied but numbers.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "record/core/data_set.h"

namespace echoline::record {

// A feature's name is its field's. A list of bytes with one value is that value; of several, value
// i is "NAME[i]". Numbers are "NAME[]", raw little-endian int64 or float32 elements; "NAME" is a
// single one as decimal text, and several as in "NAME[]". A list without values has an empty
// "NAME[]" and no "NAME". Of a feature that comes twice the first counts.
// kDataLoss for what is no Example.
Status cut_tf_example(std::span<const std::byte> example, Fields& fields);

}  // namespace echoline::record
