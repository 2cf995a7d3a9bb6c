#include "base/control_groups.h"

#include <fstream>
#include <sstream>

namespace echoline {
namespace {

namespace fs = std::filesystem;

void add_with_those_above(const fs::path& mount, const std::string& path, bool version2,
                          std::vector<ControlGroup>& groups) {
  fs::path group = mount / fs::path(path).relative_path();
  while (group != mount && group.has_relative_path()) {
    groups.push_back({group, version2});
    group = group.parent_path();
  }
  groups.push_back({mount, version2});
}

bool names(const std::string& list, std::string_view controller) {
  std::istringstream words(list);
  std::string word;
  while (std::getline(words, word, ',')) {
    if (word == controller) return true;
  }
  return false;
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller,
                                         const KernelFolders& folders) {
  std::vector<ControlGroup> groups;
  // Lines have the form "id:controllers:path"; for version 2 the controllers are empty.
  std::ifstream lines(folders.proc + "/self/cgroup");
  std::string id;
  std::string controllers;
  std::string path;
  while (std::getline(lines, id, ':') && std::getline(lines, controllers, ':') &&
         std::getline(lines, path)) {
    if (controllers.empty()) add_with_those_above(folders.cgroup, path, true, groups);
    if (!names(controllers, controller)) continue;
    // The mount's folder is named after all its controllers ("cpu,cpuacct").
    add_with_those_above(fs::path(folders.cgroup) / controllers, path, false, groups);
  }
  return groups;
}

}  // namespace echoline
