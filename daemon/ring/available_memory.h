// The memory of the machine and of each control group of this process: the total, and how much is
// still available. The kernel does not refuse a memfd that is larger: it kills a process while the
// memfd is being filled.
#pragma once

#include <cstdint>
#include <string>

#include "base/control_groups.h"

namespace echoline::ring {

struct MemoryBound {
  std::uint64_t bytes = 0;
  std::string limit;  // what limits it: "the machine", or a control group with its folder
};

// The minimum of MemAvailable and of what each control group (v1 or v2) up to the root still
// allows. Page cache that the kernel can drop counts as free. A file that can't be read sets no
// limit.
MemoryBound available_memory(const KernelFolders& folders = {});
// The minimum of MemTotal and of the limits of these groups, including memory in use.
MemoryBound whole_memory(const KernelFolders& folders = {});

}  // namespace echoline::ring
