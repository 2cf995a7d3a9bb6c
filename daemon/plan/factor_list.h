// The list of factor changes of an epoch: which lists can be kept, and the list with its beginning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "plan/plan_spec.h"

namespace echoline::plan {

inline constexpr std::size_t kChangesMax = 64;

struct ChangeLimits {
  std::uint64_t blocks = 1;
  std::uint32_t factor_max = 1000;

  // Blocks 0 (the epoch's first factor) and [1, end()) may begin another factor. The uses of an
  // epoch's last blocks run on after its last admission: a change there belongs to the next epoch.
  std::uint64_t end() const;
};

// Ok, or which entry is wrong and why.
Status check_changes(std::span<const FactorChange> changes, const ChangeLimits& limits);

// The changes, led by the factor of block 0.
std::vector<FactorChange> whole_list(std::span<const FactorChange> changes, std::uint32_t factor);

}  // namespace echoline::plan
