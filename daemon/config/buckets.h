// The buckets of the step `batch` (docs/language.md, "Length buckets").
#pragma once

#include <cstdint>

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Rows of a batch of the bucket up to this length; 0: the budget has no room for `multiple` rows.
std::uint32_t bucket_rows(const v1::Batch& batch, std::uint64_t up_to);

// The lengths ascend, each bucket has rows, and the order of the records is left to the buckets.
Status check_buckets(const v1::Stream& stream, const SourceLocations& locations);

}  // namespace echoline::config
