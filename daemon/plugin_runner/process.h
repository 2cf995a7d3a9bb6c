// What the process does for the daemon's safety, whatever the plugin does.
#pragma once

#include <cstdint>

namespace echoline::plugin_runner {

// Lets the kernel kill this process when the daemon has ended.
void end_with_daemon();
// Limits private memory: address space would count what is only reserved.
void limit_memory(std::uint64_t bytes);
// Programs that the plugin starts get none of the daemon's descriptors.
void keep_descriptors();
// Writes the stack to the standard error when a signal ends the process.
void report_crashes();

}  // namespace echoline::plugin_runner
