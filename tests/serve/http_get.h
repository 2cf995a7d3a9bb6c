// Sends one HTTP request over a plain socket, as a scraper does.
#pragma once

#include <cstdint>
#include <string>

namespace echoline::serve {

struct HttpAnswer {
  int status = 0;  // 0: no reply
  std::string head;
  std::string body;
};

HttpAnswer http_request(std::uint16_t port, const std::string& method, const std::string& path);
inline HttpAnswer http_get(std::uint16_t port, const std::string& path) {
  return http_request(port, "GET", path);
}

}  // namespace echoline::serve
