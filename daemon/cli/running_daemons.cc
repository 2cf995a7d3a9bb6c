#include "cli/running_daemons.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/pluralize.h"
#include "base/sanitize_name.h"
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

// A folder that another user has made, or may write to, could name anything.
bool is_own_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::vector<std::string> running() {
  std::vector<std::string> folders;
  const std::string base = private_base();
  if (!is_own_folder(base)) return folders;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(base, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string folder = entry->path();
    if (check_socket_connection(folder + "/control.sock").ok()) folders.push_back(folder);
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
    text += fmt::format("{} --runtime-dir {}", i == 0 ? "" : " or", sanitize_output(folders[i]));
  return text + (folders.size() > kNamedMax ? " or another one next to it" : "");
}

}  // namespace echoline::cli
