// A small HTTP server for what monitoring asks: fixed paths, GET, short answers.
// Its threads are the library's; handlers are called from any of them, several at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/status.h"

namespace echoline::serve {

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  // What a browser that shows it may load and run: nothing.
  std::string policy = "default-src 'none'; frame-ancestors 'none'";
};

using HttpHandlers = std::map<std::string, std::function<HttpReply()>>;

class HttpServer {
 public:
  // `address` is host:port ("[::1]:9464" for IPv6); port 0 takes a free one. An address in use is
  // kAlreadyExists.
  static Result<std::unique_ptr<HttpServer>> open(const std::string& address,
                                                  HttpHandlers handlers);
  // Ends within a second or so: answers under way are finished, idle connections closed.
  virtual ~HttpServer() = default;
  virtual std::uint16_t port() const = 0;
};

}  // namespace echoline::serve
