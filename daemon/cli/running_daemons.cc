#include "cli/running_daemons.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/pluralize.h"
#include "cli/connectivity_check.h"

namespace echoline::cli {
namespace {

constexpr std::size_t kNamedMax = 4;

// As the Python package chooses it (_private_folders.py).
std::string private_base() {
  const char* const chosen = std::getenv("ECHOLINE_PRIVATE_DIR");
  return chosen != nullptr && *chosen != '\0'
             ? chosen
             : fmt::format("/tmp/echoline-private-{}", ::geteuid());
}

std::vector<std::string> running() {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(private_base(), error)) {
    if (check_socket_connection(entry.path() / "control.sock").ok())
      folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

}  // namespace

std::string private_daemons_text(const std::string& runtime_dir) {
  const std::vector<std::string> folders = running();
  if (folders.empty() || std::ranges::count(folders, runtime_dir) > 0) return "";
  std::string text = fmt::format("{} of this user {}; to look at one, add",
                                 pluralize(folders.size(), "private daemon"),
                                 folders.size() == 1 ? "runs" : "run");
  for (std::size_t i = 0; i < std::min(folders.size(), kNamedMax); ++i)
    text += fmt::format("{} --runtime-dir {}", i == 0 ? "" : " or", folders[i]);
  return text + (folders.size() > kNamedMax ? " or another one next to it" : "");
}

}  // namespace echoline::cli
