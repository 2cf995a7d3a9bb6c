// How many processors this process may use.
#pragma once

#include <cstdint>

#include "base/control_groups.h"

namespace echoline {

// The least of `of_machine` and of the limits (CFS quota over its period, rounded up) of the
// control groups that hold this process; at least 1. Shares and weights, which bound nothing while
// the machine has time, do not count.
std::uint32_t usable_processors(std::uint32_t of_machine, const KernelFolders& folders = {});

}  // namespace echoline
