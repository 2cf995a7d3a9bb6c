// Cuts a JSON object into fields.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "record/core/data_set.h"

namespace echoline::record {

// Each member is a field of the same name: a text as its UTF-8 bytes, a number as decimal text,
// true and false as 1 and 0, objects and arrays as JSON text. null is no field. An array of numbers
// is also the field NAME[float32], its raw elements; of integers, also NAME[int64]. kDataLoss for
// anything but one object in UTF-8.
Status cut_json_record(std::span<const std::byte> json, Fields& fields);

}  // namespace echoline::record
