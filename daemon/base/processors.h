// The number of processors that this process may use.
#pragma once

#include <cstdint>

#include "base/control_groups.h"

namespace echoline {

// The minimum of `of_machine` and the limits (CFS quota / period, rounded up) of the control groups
// of this process; at least 1. Shares and weights do not count: they limit nothing while the
// machine is idle.
std::uint32_t usable_processors(std::uint32_t of_machine, const KernelFolders& folders = {});

}  // namespace echoline
