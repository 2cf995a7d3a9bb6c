// Finds the control groups of this process.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace echoline {

// The kernel's files; tests use other folders.
struct KernelFolders {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

struct ControlGroup {
  std::filesystem::path folder;
  bool version2 = false;
};

// The folders of all groups whose `controller` ("memory", "cpu") can limit this process: its groups
// of version 2 and 1 and all their ancestors up to the root. Unreadable groups are left out. In a
// container the kernel can report the host's path; then only the root exists.
std::vector<ControlGroup> control_groups(std::string_view controller,
                                         const KernelFolders& folders = {});

}  // namespace echoline
