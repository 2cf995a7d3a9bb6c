// Processes of this host, told apart for good: numbers are used again.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace echoline {

// When a process began, in clock ticks since the host's boot (proc(5), starttime): it tells a
// process from a later one of the same number. 0 if it has ended, or cannot be seen from here.
std::uint64_t process_begin(pid_t pid);

}  // namespace echoline
