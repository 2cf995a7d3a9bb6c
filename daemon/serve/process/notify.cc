// Sends one datagram. A failure is ignored: the supervisor has a time-out.
#include "serve/process/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.h"

namespace echoline::serve {

void notify_supervisor(std::string_view state) {
  const char* variable = std::getenv("NOTIFY_SOCKET");
  const std::string_view path = variable == nullptr ? "" : variable;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Not under systemd, or an address that no socket can have.
  if (path.empty() || path.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path.data(), path.size());
  // '@' means the leading zero byte of an abstract address.
  if (path.front() == '@') address.sun_path[0] = '\0';
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // Without a zero at the end: in an abstract address every byte counts.
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (!socket) return;
  [[maybe_unused]] const ssize_t sent =
      // Never waits: a full queue of the service manager must not stop the daemon.
      ::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace echoline::serve
