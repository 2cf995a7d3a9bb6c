// The list of factor changes of an epoch: which lists are valid, and the list from block 0 on.
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

  // A change may begin at block 0 (it is then the epoch's first factor) and at blocks [1, end()).
  // After the admission of the epoch's last blocks, only their later uses follow: a change there
  // belongs to the next epoch.
  std::uint64_t end() const;
};

// The error says which entry is wrong and why.
Status check_changes(std::span<const FactorChange> changes, const ChangeLimits& limits);

// The changes, preceded by `factor` at block 0 unless they change block 0.
std::vector<FactorChange> whole_list(std::span<const FactorChange> changes, std::uint32_t factor);

}  // namespace echoline::plan
