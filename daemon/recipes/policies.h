// The policies that AutoAugment found for three data sets (Cubuk et al., arXiv 1805.09501), as
// torchvision has them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "recipes/recipe_draws.h"

namespace echoline::recipes {

struct PolicyStep {
  Operation operation;
  double probability;
  std::uint32_t magnitude;  // 0 to 9; 0 for operations without one
};

using PolicyPair = std::array<PolicyStep, 2>;
constexpr std::size_t kPolicyPairs = 25;

std::span<const PolicyPair, kPolicyPairs> policy_pairs(Policy policy);

}  // namespace echoline::recipes
