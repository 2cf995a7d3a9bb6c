#include "base/newest_entries.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace echoline {
namespace fs = std::filesystem;

void keep_newest_entries(const std::string& folder, std::size_t most) {
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    entries.emplace_back(at->last_write_time(error), at->path());
  }
  if (entries.size() <= most) return;
  std::ranges::sort(entries);
  entries.resize(entries.size() - most);
  for (const auto& [time, path] : entries) fs::remove_all(path, error);
}

void touch_entry(const std::string& path) {
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
}

}  // namespace echoline
