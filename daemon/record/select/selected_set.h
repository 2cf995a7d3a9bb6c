// A data set of which only some records are used: `read.split` and `read.limit`.
#pragma once

#include <memory>

#include "base/status.h"
#include "record/core/data_set.h"

namespace echoline::v1 {
class Read;
}

namespace echoline::record {

// Whether the step chooses records.
bool selects_records(const v1::Read& read);

// The chosen records of `whole`. With `split`, a record is chosen by the hash of its key (XXH3-64,
// seeded with split.seed): so parts with the same seed that do not overlap have no record in
// common, also where shards are added, ordered or packed differently. `limit` then keeps the first
// ones. kNotFound if none is left; kResourceExhausted beyond 2^32 records.
Result<std::unique_ptr<DataSet>> select_records(const v1::Read& read,
                                                std::unique_ptr<DataSet> whole);

}  // namespace echoline::record
