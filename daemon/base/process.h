// Identifies a process of this host for good, because the kernel reuses process ids.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace echoline {

// The start time of a process in clock ticks since the host's boot (proc(5), starttime), which
// differs from that of a later process with the same id. 0 if it has ended or is not visible.
std::uint64_t process_begin(pid_t pid);

}  // namespace echoline
