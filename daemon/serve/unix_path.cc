// Whether somebody listens is found out by connecting: nothing else tells a living socket from a
// dead one.
#include "serve/unix_path.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace echoline::serve {

Status clear_unix_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: {} bytes are no socket path, {} are the most; set "
                              "daemon.runtime_dir to a shorter one",
                              path, path.size(), sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? Status() : errno_status(errno, path);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return Status(Code::kAlreadyExists, path + " is no socket and is not touched; move it away");
  }
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return errno_status(errno, "making a socket");
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno == EAGAIN) {
    return Status(Code::kAlreadyExists,
                  path +
                      " is served by another daemon; stop it, or set daemon.runtime_dir to "
                      "another folder");
  }
  if (errno != ECONNREFUSED) return errno_status(errno, path);
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status() : errno_status(errno, path);
}

}  // namespace echoline::serve
