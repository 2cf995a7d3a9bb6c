// Checks the mixture of a spec, and lists of changes of its weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "plan/plan_spec.h"

namespace echoline::plan {

inline constexpr std::size_t kWeightChangesMax = 16;
// As in the configuration.
inline constexpr std::uint32_t kWeightMax = 1000 * 1000 * 1000;

// Ok without a mixture. The error names the key of the configuration.
Status check_mix(const PlanSpec& spec);

// `changes` come from a trainer's state or from the set-weights command, so every entry is checked.
// The error says which entry is wrong and why.
Status check_weights(const PlanSpec& spec, std::span<const WeightChange> changes);

}  // namespace echoline::plan
