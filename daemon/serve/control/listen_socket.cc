#include "serve/control/listen_socket.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace echoline::serve {
namespace {

constexpr int kBacklog = 128;
constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;

struct Free {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

Status cannot(const std::string& key, const std::string& address, const char* why) {
  return Status(Code::kInvalidArgument,
                fmt::format("{}: {} cannot be listened at ({}); name an address of this host", key,
                            address, why));
}

}  // namespace

Result<UniqueFd> listen_tcp(const std::string& key, const std::string& address) {
  // The last colon: an IPv6 address has colons of its own, in brackets.
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  std::erase_if(host, [](char c) { return c == '[' || c == ']'; });
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  // AI_NUMERICSERV: the port is a number; names of services are not looked up.
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  const int error = ::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &first);
  if (error != 0) return cannot(key, address, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, Free> found(first);
  // Only the first address of a name is listened at.
  UniqueFd listener(::socket(found->ai_family, SOCK_STREAM | kFlags, 0));
  if (!listener) return errno_status(errno, "creating a socket");
  const int yes = 1;
  // A restart must not wait for connections of the old process to time out.
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(listener.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    if (errno != EADDRINUSE) return cannot(key, address, std::strerror(errno));
    return Status(Code::kAlreadyExists,
                  fmt::format("{}: {} is in use; choose another port", key, address));
  }
  return listener;
}

std::uint16_t port_of(int listener) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return 0;
  // The port has the same offset in sockaddr_in and sockaddr_in6.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

}  // namespace echoline::serve
