// The rows of a step of a job, computed without reading data.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "plan/plan.h"

namespace echoline::plan {

// The valid rows of the global batch `step` of an epoch without factor changes, for a job with
// batches of `batch_size` rows (0: the stream's own). kInvalidArgument if there is no such step.
Result<std::vector<RowUse>> rows_of_step(const Plan& plan, std::uint32_t epoch, std::uint64_t step,
                                         std::uint32_t batch_size);

}  // namespace echoline::plan
