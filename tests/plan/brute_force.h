// The rules said again the slow way: lists, loops and sorting, nothing shared with the plan's
// arithmetic.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "plan/plan.h"

namespace echoline::plan::testing {

// For each lane its records in the order in which they reach the echo step, taken from a plan
// without one.
std::vector<std::vector<std::uint64_t>> lane_records(const PlanSpec& spec, std::uint32_t epoch);

// How often each of a lane's items is used: the running sum of factors, item by item (rule 3).
std::vector<std::uint32_t> uses_of_lane(std::uint64_t lane_begin, std::uint64_t items,
                                        std::uint64_t blocks,
                                        const std::vector<FactorChange>& factors);

// The same by record for the whole epoch; `factors` begins at block 0.
std::map<std::uint64_t, std::uint32_t> uses_of_epoch(const PlanSpec& spec, std::uint32_t epoch,
                                                     std::uint64_t blocks,
                                                     const std::vector<FactorChange>& factors);

// Records (or batches) that a walk from `first_row` holds for a later use, at most, one a lane more
// while it is in delivery.
std::uint64_t most_kept(const std::vector<RowUse>& rows, std::uint64_t first_row);

}  // namespace echoline::plan::testing
