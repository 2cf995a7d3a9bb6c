// The rules of the order implemented a second time, with lists, loops and sorting. It shares no
// code with the plan.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "plan/plan.h"

namespace echoline::plan::testing {

// The records of each lane in the order in which they reach the echo step, read from a plan without
// an echo step.
std::vector<std::vector<std::uint64_t>> lane_records(const PlanSpec& spec, std::uint32_t epoch);

// How often each item of a lane is used: the running sum of factors, item by item.
std::vector<std::uint32_t> uses_of_lane(std::uint64_t lane_begin, std::uint64_t items,
                                        std::uint64_t blocks,
                                        const std::vector<FactorChange>& factors);

// The same by record for the whole epoch; `factors` begins at block 0.
std::map<std::uint64_t, std::uint32_t> uses_of_epoch(const PlanSpec& spec, std::uint32_t epoch,
                                                     std::uint64_t blocks,
                                                     const std::vector<FactorChange>& factors);

// The most records (or batches) that a walk from `first_row` holds for a later use.
std::uint64_t most_kept(const std::vector<RowUse>& rows, std::uint64_t first_row);

}  // namespace echoline::plan::testing
