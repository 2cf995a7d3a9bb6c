// A socket file looks the same with a live and with a dead server, so a connect finds out.
#include "serve/door/unix_listener.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace echoline::serve {
namespace {

// Trainers of a large job connect at the same moment.
constexpr int kBacklog = 256;

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: a socket path has 1 to {} bytes, this one has {}; set "
                              "daemon.runtime_dir to a shorter one",
                              path, sizeof address.sun_path - 1, path.size()));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<UniqueFd> make_socket(int kind) {
  UniqueFd made(::socket(AF_UNIX, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return errno_status(errno, "creating a socket");
  return made;
}

// Removes a socket that nobody listens on.
Status clear_path(const std::string& path, const sockaddr_un& address, int kind) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? Status() : errno_status(errno, path);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return Status(Code::kAlreadyExists, path + " is no socket and is not touched; move it away");
  }
  ECHOLINE_ASSIGN(const UniqueFd probe, make_socket(kind));
  // A full queue (EAGAIN) and another kind of socket (EPROTOTYPE) also mean a live server.
  if (::connect(probe.get(), generic(address), sizeof address) == 0 || errno == EAGAIN ||
      errno == EPROTOTYPE) {
    return Status(Code::kAlreadyExists,
                  path +
                      " is served by another daemon; stop it, or set daemon.runtime_dir to "
                      "another folder");
  }
  // ECONNREFUSED is what a dead server's socket gives.
  if (errno != ECONNREFUSED) return errno_status(errno, path);
  // ENOENT: another process has removed it.
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status() : errno_status(errno, path);
}

}  // namespace

Status check_socket_path(const std::string& path) { return address_of(path).status(); }

Result<UniqueFd> listen_unix(const std::string& path, int kind, mode_t mode) {
  ECHOLINE_ASSIGN(const sockaddr_un address, address_of(path));
  ECHOLINE_TRY(clear_path(path, address, kind));
  ECHOLINE_ASSIGN(UniqueFd listener, make_socket(kind));
  // fchmod before bind: the file never has a wider mode. chmod after it: bind applies the umask,
  // which can remove bits of the mode.
  if (::fchmod(listener.get(), mode) != 0 ||
      ::bind(listener.get(), generic(address), sizeof address) != 0 ||
      ::chmod(path.c_str(), mode) != 0 || ::listen(listener.get(), kBacklog) != 0) {
    return errno_status(errno, path + "; may this user write to the folder?");
  }
  return listener;
}

}  // namespace echoline::serve
