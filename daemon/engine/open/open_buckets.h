// Sorts the records of a stream into buckets by their lengths (batch.buckets).
#pragma once

#include <string>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/open_order.h"
#include "engine/runtime/memory_budget.h"
#include "record/core/data_set.h"

namespace echoline::engine {

// For a batch step with buckets. Lengths are those of the index; kInvalidArgument: it does not have
// them.
Result<OpenedOrder> open_buckets(const std::string& name, const v1::Batch& batch,
                                 const record::DataSet& data_set, MemoryBudget& budget);

}  // namespace echoline::engine
