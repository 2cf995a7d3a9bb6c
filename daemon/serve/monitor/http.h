// A small HTTP server for monitoring: fixed paths, GET and HEAD, short replies.
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
  // Content-Security-Policy: what a browser may load and run with it. Default: nothing.
  std::string policy = "default-src 'none'; frame-ancestors 'none'";
};

// A connection has one until its request has come whole, so requests that never come whole hold up
// all others: 250 of them for 250 / 32 * 500 ms.
inline constexpr int kHttpThreads = 32;

using HttpHandlers = std::map<std::string, std::function<HttpReply()>>;

// The library's threads call the handlers, several at a time. One thread opens and destroys the
// server. An interface, so that the library stays out of this header.
class HttpServer {
 public:
  // `address` is host:port ("[::1]:9464" for IPv6); port 0 means any free one. kAlreadyExists: the
  // address is in use.
  static Result<std::unique_ptr<HttpServer>> open(const std::string& address,
                                                  HttpHandlers handlers);
  // Finishes the running replies and closes idle connections; takes about a second at most.
  virtual ~HttpServer() = default;
  virtual std::uint16_t port() const = 0;
  // host:port, with the port that was taken.
  virtual std::string address() const = 0;
};

}  // namespace echoline::serve
