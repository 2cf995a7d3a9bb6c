// The control groups that hold this process, as the kernel tells them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace echoline {

// Where the kernel tells it. Other folders in tests.
struct KernelFolders {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

struct ControlGroup {
  std::filesystem::path folder;
  bool version2 = false;
};

// Those that `controller` ("memory", "cpu") may bound this process by: of version 2, and of version
// 1 where it has that controller; each with all above it up to the root. What cannot be read is
// none. In a container the path that the kernel tells may be the host's: then only the root is
// there.
std::vector<ControlGroup> control_groups(std::string_view controller,
                                         const KernelFolders& folders = {});

}  // namespace echoline
