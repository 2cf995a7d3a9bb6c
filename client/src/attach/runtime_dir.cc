#include "attach/runtime_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace echoline::client {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Any user can create folders in /tmp: never trust a socket in a folder of another user.
bool is_mine(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == getuid();
}

}  // namespace

std::string find_runtime_dir(const std::string& explicit_dir) {
  if (!explicit_dir.empty()) return explicit_dir;
  if (std::string dir = variable("ECHOLINE_RUNTIME_DIR"); !dir.empty()) return dir;
  // A login session has its own XDG folder, but the daemon may be a system service. So prefer the
  // folder that has the attach socket.
  std::string session = variable("XDG_RUNTIME_DIR");
  if (!session.empty()) session += "/echoline";
  if (!session.empty() && exists(session + "/door.sock")) return session;
  if (exists("/run/echoline/door.sock")) return "/run/echoline";
  std::string own = "/tmp/echoline-" + std::to_string(getuid());
  if (is_mine(own) && exists(own + "/door.sock")) return own;
  // No socket yet: the folder where a daemon of this session would open it.
  if (!session.empty()) return session;
  return exists("/run/echoline") ? "/run/echoline" : own;
}

}  // namespace echoline::client
