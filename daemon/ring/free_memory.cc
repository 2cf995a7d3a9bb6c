#include "ring/free_memory.h"

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

// The names of the same numbers in the two versions of control groups.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* inactive;
  const char* active;
};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file", "total_active_file"};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file", "active_file"};

// The file's only number; nothing when there is none ("max") or no file.
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  if (!(stream >> number)) return std::nullopt;
  return number;
}

// The number after `key` in a file of "key number" lines.
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

void bound_by_group(const fs::path& group, const GroupFiles& files, FreeMemory& least) {
  const auto limit = number_in(group / files.limit);
  const auto usage = number_in(group / files.usage);
  if (!limit || !usage) return;
  const std::uint64_t cache = number_after(group / "memory.stat", files.inactive) +
                              number_after(group / "memory.stat", files.active);
  const std::uint64_t used = *usage - std::min(*usage, cache);
  const std::uint64_t free = *limit - std::min(*limit, used);
  if (free < least.bytes) least = {free, "the control group " + group.string()};
}

// The group and all above it. In a container the path may be the host's: then the mount's root is
// the group.
void bound_by_path(const fs::path& mount, const std::string& path, const GroupFiles& files,
                   FreeMemory& least) {
  fs::path group = mount / fs::path(path).relative_path();
  while (group != mount && group.has_relative_path()) {
    bound_by_group(group, files, least);
    group = group.parent_path();
  }
  bound_by_group(mount, files, least);
}

}  // namespace

FreeMemory free_memory(const MemoryFolders& folders) {
  FreeMemory least{std::numeric_limits<std::uint64_t>::max(), "nothing"};
  if (const std::uint64_t kib = number_after(folders.proc + "/meminfo", "MemAvailable:"); kib != 0)
    least = {kib * 1024, "the machine"};
  // Lines of "id:controllers:path"; version 2 has no controllers there.
  std::ifstream groups(folders.proc + "/self/cgroup");
  std::string id;
  std::string controllers;
  std::string path;
  while (std::getline(groups, id, ':') && std::getline(groups, controllers, ':') &&
         std::getline(groups, path)) {
    if (controllers.empty()) bound_by_path(folders.cgroup, path, kVersion2, least);
    if (controllers == "memory") bound_by_path(folders.cgroup + "/memory", path, kVersion1, least);
  }
  return least;
}

}  // namespace echoline::ring
