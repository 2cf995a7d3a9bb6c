// An empty variable counts as not set.
#include "config/paths.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>

namespace echoline::config {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string default_runtime_dir() {
  if (std::string folder = variable("ECHOLINE_RUNTIME_DIR"); !folder.empty()) return folder;
  // The usual place for sockets of a user's programs.
  if (const std::string folder = variable("XDG_RUNTIME_DIR"); !folder.empty()) {
    return folder + "/echoline";
  }
  return ::geteuid() == 0 ? "/run/echoline" : fmt::format("/tmp/echoline-{}", ::geteuid());
}

std::string default_state_dir() {
  if (const std::string folders = variable("STATE_DIRECTORY"); !folders.empty()) {
    // systemd gives several folders, separated by colons; the first one is the daemon's.
    return folders.substr(0, folders.find(':'));
  }
  if (::geteuid() == 0) return "/var/lib/echoline";
  if (const std::string folder = variable("XDG_STATE_HOME"); !folder.empty()) {
    return folder + "/echoline";
  }
  const std::string home = variable("HOME");
  // Without a home there is no better place.
  return home.empty() ? default_runtime_dir() + "/state" : home + "/.local/state/echoline";
}

}  // namespace echoline::config
