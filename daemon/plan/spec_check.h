// Checks a PlanSpec. Every error names the configuration key that must change.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "plan/echo_shape.h"
#include "plan/plan_spec.h"

namespace echoline::plan {

// Limits that keep products of records and factors below 2^64.
inline constexpr std::uint64_t kRecordsMax = std::uint64_t{1} << 42;
inline constexpr std::uint32_t kFactorMax = 1000 * 1000;
inline constexpr std::uint32_t kLanesMax = 65536;
// The draws of a use have a number of 16 bits.
inline constexpr std::uint64_t kDrawsMax = 1U << 16;

// For messages: 1500 is "1.5".
std::string thousandths(std::uint32_t number);

// What an epoch consists of: all records, the entries of a list, or the rows of a mixture.
std::uint64_t item_count(const PlanSpec& spec, std::uint64_t records);
// The numbers of random draws that the uses of one item can have.
std::uint32_t draws_per_item(const PlanSpec& spec);

// The number of fresh batches of an epoch, with the short one unless it is dropped.
std::uint64_t batch_count(const PlanSpec& spec, std::uint64_t items);

// The echo step of a checked spec.
EchoDemand echo_demand(const PlanSpec& spec, std::uint64_t items);

// `spec.factor_max` must be set, not 0.
Status check_spec(const PlanSpec& spec);

}  // namespace echoline::plan
