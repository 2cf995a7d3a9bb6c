#include "engine/stream/verdict_files.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>

#include "engine/open/fingerprint.h"
#include "user_code/workers.h"

namespace echoline::engine {
namespace {

// With the fingerprint, for the reason that kept_order.cc names.
std::string folder_of(const std::string& state_dir, const StreamCore& core) {
  return fmt::format("{}/verdicts/{}.{}", state_dir, core.name, to_hex(core.ring_spec.fingerprint));
}

}  // namespace

void keep_verdicts(const std::string& state_dir, const StreamCore& core) {
  for (const user_code::Workers* workers : core.preparer->chain().user_code()) {
    workers->kept().start(state_dir.empty() ? ""
                                            : fmt::format("{}/{}", folder_of(state_dir, core),
                                                          workers->function().step));
  }
}

void remove_verdicts(const std::string& state_dir, const StreamCore& core) {
  if (state_dir.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(folder_of(state_dir, core), ignored);
}

}  // namespace echoline::engine
