// Sends one HTTP request over a plain socket, as a scraper does.
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace echoline::serve {

struct HttpAnswer {
  int status = 0;  // 0: no reply
  std::string head;
  std::string body;
};

// Connects and sends this much of a request. Invalid: it failed.
UniqueFd http_send(std::uint16_t port, const std::string& text);
HttpAnswer http_request(std::uint16_t port, const std::string& method, const std::string& path);
inline HttpAnswer http_get(std::uint16_t port, const std::string& path) {
  return http_request(port, "GET", path);
}

}  // namespace echoline::serve
