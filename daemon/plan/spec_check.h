// What a PlanSpec must fulfil; every refusal names the key of the configuration that is to change.
#pragma once

#include "base/status.h"
#include "plan/echo_shape.h"
#include "plan/plan_spec.h"

namespace echoline::plan {

// Above, products of records and factors would not fit 64 bits.
inline constexpr std::uint64_t kRecordsMax = std::uint64_t{1} << 42;
inline constexpr std::uint32_t kFactorMax = 1000 * 1000;
inline constexpr std::uint32_t kLanesMax = 65536;

// Fresh batches of an epoch: with the short one, unless it is dropped.
std::uint64_t batch_count(const PlanSpec& spec, std::uint64_t records);

// What the echo step of a checked spec has to do.
EchoDemand echo_demand(const PlanSpec& spec, std::uint64_t records);

// `spec.factor_max` has its value, not 0.
Status check_spec(const PlanSpec& spec);

}  // namespace echoline::plan
