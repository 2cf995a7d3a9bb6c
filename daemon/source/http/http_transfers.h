// HTTP requests over kept-alive connections, many at a time: the only door to libcurl. One attempt
// each; whether and when to try again is decided above (exchanges.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace echoline::source {

struct HttpRequest {
  std::string method = "GET";  // GET, HEAD, POST or PUT
  std::string url;             // as it goes over the wire, escaped
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;                // of POST and PUT
  bool follows_redirects = false;  // a few; never from https to http
  bool bypasses_proxy = false;     // for services of this machine
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::uint64_t retry_after_s = 0;  // Retry-After, a number or a date; 0 if there is none

  // Empty if the header isn't there.
  std::string_view header(std::string_view lower_case_name) const;
};

// Takes a response as it arrives, on the thread that polls. Returning false ends the transfer.
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  virtual bool on_response(const HttpResponse& response) = 0;  // all headers; before any body
  virtual bool on_body(std::span<const std::byte> bytes) = 0;
};

enum class HttpEnd {
  kComplete,     // the whole response has arrived
  kStopped,      // the sink had enough
  kStalled,      // no byte within the limit
  kUnreachable,  // no connection: name, address, refused, handshake
  kUntrusted,    // TLS: the certificate
  kBroken,       // anything else: reset, short body, bad protocol
};

struct HttpResult {
  std::uint64_t id = 0;
  HttpEnd end = HttpEnd::kBroken;
  std::string error;  // one line of the library's words; empty for kComplete and kStopped
};

struct HttpOptions {
  std::size_t connections_max = 32;
  std::uint64_t stall_ns = 15'000'000'000;  // without a byte either way, connecting included
  std::string ca_file;                      // empty: the system's
};

// One thread, but wake() may be called by any. Owns its connections; sinks must outlive their
// transfer.
class HttpTransfers {
 public:
  explicit HttpTransfers(const HttpOptions& options);
  ~HttpTransfers();

  void start(std::uint64_t id, const HttpRequest& request, HttpSink& sink);

  // Ends a transfer without a result.
  void cancel(std::uint64_t id);

  // Moves transfers on, waiting at most until the deadline (monotonic_ns) for the first event;
  // appends those that ended.
  void step(std::uint64_t deadline_ns, std::vector<HttpResult>& ended);

  void wake();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace echoline::source
