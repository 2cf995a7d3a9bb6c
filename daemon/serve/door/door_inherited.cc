#include "serve/door/door_inherited.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace echoline::serve {
namespace {

constexpr int kFirstInherited = 3;
constexpr std::string_view kName = "door";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The descriptor of the door's socket; -1: none. The service manager passes descriptors from 3 on.
int find_inherited() {
  // The variables may be inherited from a parent for which they were meant.
  if (variable("LISTEN_PID") != std::to_string(::getpid())) return -1;
  const int count = std::atoi(variable("LISTEN_FDS").c_str());
  const std::string names = variable("LISTEN_FDNAMES");
  // Without names only a single socket is clear.
  if (names.empty()) return count == 1 ? kFirstInherited : -1;
  std::string_view rest = names;
  for (int i = 0; i < count; ++i) {
    const std::size_t end = rest.find(':');
    if (rest.substr(0, end) == kName) return kFirstInherited + i;
    if (end == std::string_view::npos) return -1;
    rest.remove_prefix(end + 1);
  }
  return -1;
}

int option(int socket, int name) {
  int value = 0;
  socklen_t bytes = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, name, &value, &bytes) == 0 ? value : -1;
}

// "" for a socket without a path, or of another family.
std::string path_of(int socket) {
  sockaddr_un address{};
  // One byte less, so that the path is zero-terminated in any case.
  socklen_t bytes = sizeof address - 1;
  const int rc = ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes);
  return rc == 0 && address.sun_family == AF_UNIX ? address.sun_path : "";
}

Status check(int socket, const std::string& path) {
  // Another path: trainers would wait at a socket that nobody serves.
  if (const std::string at = path_of(socket); at != path) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("the service manager opened the door at '{}', but trainers connect "
                              "to {}: give the socket unit and daemon.runtime_dir the same folder",
                              at, path));
  }
  if (option(socket, SO_TYPE) != SOCK_SEQPACKET || option(socket, SO_ACCEPTCONN) != 1) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("the service manager's socket at {} is no door: it needs "
                              "ListenSequentialPacket= and Accept=no",
                              path));
  }
  return {};
}

}  // namespace

bool door_is_inherited() { return find_inherited() >= 0; }

Result<UniqueFd> inherited_door(const std::string& path) {
  // A duplicate: opening the door a second time in this process finds the original still open.
  UniqueFd copy(::fcntl(find_inherited(), F_DUPFD_CLOEXEC, 0));
  if (!copy) return errno_status(errno, "taking over the door from the service manager");
  ECHOLINE_TRY(check(copy.get(), path));
  if (::fcntl(copy.get(), F_SETFL, O_NONBLOCK) != 0) return errno_status(errno, path);
  return copy;
}

}  // namespace echoline::serve
