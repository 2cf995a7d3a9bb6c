#include "serve/http_get.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstdlib>

namespace echoline::serve {

UniqueFd http_send(std::uint16_t port, const std::string& text) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0)
    return {};
  return socket;
}

HttpAnswer http_request(std::uint16_t port, const std::string& method, const std::string& path) {
  HttpAnswer answer;
  const UniqueFd socket =
      http_send(port, method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  if (!socket) return answer;
  std::string text;
  char buffer[4096];
  ssize_t bytes = 0;
  while ((bytes = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0) {
    text.append(buffer, static_cast<std::size_t>(bytes));
  }
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos || text.size() < 12) return answer;
  answer.status = std::atoi(text.c_str() + 9);
  answer.head = text.substr(0, end);
  answer.body = text.substr(end + 4);
  return answer;
}

}  // namespace echoline::serve
