#include "ring/available_memory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace echoline::ring {
namespace {

namespace fs = std::filesystem;

// The two versions of control groups have different names for the same numbers.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* inactive;
  const char* active;
};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file", "total_active_file"};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file", "active_file"};

// The only number in a file; nothing if there is none ("max") or no such file.
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  // "max", the word for no limit in version 2, is no number.
  if (!(stream >> number)) return std::nullopt;
  return number;
}

// The number after `key` in a file with lines "key number"; 0 if there is none.
std::uint64_t number_after(const fs::path& file, const std::string& key) {
  std::ifstream stream(file);
  std::string line;
  while (std::getline(stream, line)) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t number = 0;
    if (words >> name >> number && name == key) return number;
  }
  return 0;
}

// A limit that one group sets; nothing if it has no limit.
using GroupBound = std::optional<std::uint64_t> (*)(const fs::path& group, const GroupFiles& files);

std::optional<std::uint64_t> limit_of(const fs::path& group, const GroupFiles& files) {
  return number_in(group / files.limit);
}

std::optional<std::uint64_t> free_in(const fs::path& group, const GroupFiles& files) {
  const auto limit = limit_of(group, files);
  const auto usage = number_in(group / files.usage);
  if (!limit || !usage) return std::nullopt;
  // The kernel drops page cache before it kills a process, so its pages count as free.
  const std::uint64_t cache = number_after(group / "memory.stat", files.inactive) +
                              number_after(group / "memory.stat", files.active);
  const std::uint64_t used = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, used);
}

// The smallest limit of the machine and of all groups.
MemoryBound least_bound(const KernelFolders& folders, const char* of_machine, GroupBound bound) {
  // "nothing" where no file could be read: then no limit is known, and every request passes.
  MemoryBound least{std::numeric_limits<std::uint64_t>::max(), "nothing"};
  if (const std::uint64_t kib = number_after(folders.proc + "/meminfo", of_machine); kib != 0)
    least = {kib * 1024, "the machine"};
  // All groups up to the root: each of them limits the processes below it.
  for (const ControlGroup& group : control_groups("memory", folders)) {
    const auto bytes = bound(group.folder, group.version2 ? kVersion2 : kVersion1);
    if (bytes && *bytes < least.bytes) {
      least = {*bytes, "the control group " + group.folder.string()};
    }
  }
  return least;
}

}  // namespace

MemoryBound available_memory(const KernelFolders& folders) {
  return least_bound(folders, "MemAvailable:", free_in);
}

MemoryBound whole_memory(const KernelFolders& folders) {
  return least_bound(folders, "MemTotal:", limit_of);
}

}  // namespace echoline::ring
