#include "engine/stream/verdict_files.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/newest_entries.h"
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

}  // namespace

void keep_verdicts(const std::string& state_dir, const StreamCore& core) {
  const std::vector<const user_code::Workers*> code = core.preparer->chain().user_code();
  if (code.empty()) return;
  if (!state_dir.empty()) {
    touch_entry(folder_of(state_dir, core));
    keep_newest_entries(parent_of(state_dir), kFoldersMax);
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
