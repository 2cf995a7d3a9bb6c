// How much memory there is, and how much can still be taken, by the machine and by each control
// group that holds this process. A memfd larger than that would not be refused by the kernel:
// somebody would be killed while it is filled.
#pragma once

#include <cstdint>
#include <string>

#include "base/control_groups.h"

namespace echoline::ring {

struct MemoryBound {
  std::uint64_t bytes = 0;
  std::string limit;  // what bounds it: "the machine", or the control group's folder
};

// The least of MemAvailable and of what each control group (v1 or v2) up to the root still allows;
// page cache that can be dropped counts as free. Unreadable files bound nothing.
MemoryBound available_memory(const KernelFolders& folders = {});
// The least of MemTotal and of those groups' limits, whoever uses it now.
MemoryBound whole_memory(const KernelFolders& folders = {});

}  // namespace echoline::ring
