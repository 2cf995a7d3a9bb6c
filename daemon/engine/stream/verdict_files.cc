#include "engine/stream/verdict_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/open/fingerprint.h"
#include "user_code/workers.h"

namespace echoline::engine {
namespace {

namespace fs = std::filesystem;

// Each edit of users' code makes another fingerprint, and so another folder.
constexpr std::size_t kFoldersMax = 64;

fs::path parent_of(const std::string& state_dir) { return fs::path(state_dir) / "verdicts"; }

// With the fingerprint, for the reason that kept_order.cc names.
fs::path folder_of(const std::string& state_dir, const StreamCore& core) {
  return parent_of(state_dir) / fmt::format("{}.{}", core.name, to_hex(core.ring_spec.fingerprint));
}

// Of all streams of the folder, those that were not used for the longest time.
void remove_oldest(const fs::path& parent) {
  std::vector<std::pair<fs::file_time_type, fs::path>> folders;
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error))
    folders.emplace_back(at->last_write_time(error), at->path());
  if (folders.size() <= kFoldersMax) return;
  std::ranges::sort(folders);
  folders.resize(folders.size() - kFoldersMax);
  for (const auto& [time, folder] : folders) fs::remove_all(folder, error);
}

}  // namespace

void keep_verdicts(const std::string& state_dir, const StreamCore& core) {
  const std::vector<const user_code::Workers*> code = core.preparer->chain().user_code();
  if (code.empty()) return;
  if (!state_dir.empty()) {
    std::error_code none_kept;
    fs::last_write_time(folder_of(state_dir, core), fs::file_time_type::clock::now(), none_kept);
    remove_oldest(parent_of(state_dir));
  }
  for (const user_code::Workers* workers : code) {
    workers->kept().start(state_dir.empty() ? ""
                                            : folder_of(state_dir, core) /
                                                  std::to_string(workers->function().step));
  }
}

void remove_verdicts(const std::string& state_dir, const StreamCore& core) {
  if (state_dir.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_of(state_dir, core), ignored);
}

}  // namespace echoline::engine
