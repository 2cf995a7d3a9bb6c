// HTTP requests over kept-alive connections, many at a time: the only user of libcurl. One attempt
// each; HttpOperations decides about retries.
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
  std::string url;             // escaped
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;                // of POST and PUT
  bool follows_redirects = false;  // at most a few; never from https to http
  bool bypasses_proxy = false;     // for services of this machine
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::uint64_t retry_after_s = 0;  // Retry-After or, with status 429, the end of the RateLimit
                                    // window; 0 if there is neither
  std::string url;                  // the address that answered; may contain a signature

  // Empty if there is no such header.
  std::string_view header(std::string_view lower_case_name) const;
};

// Takes a response as it arrives, on the thread that calls step(). Returning false ends the
// transfer.
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  virtual bool on_response(const HttpResponse& response) = 0;  // all headers; before any body
  virtual bool on_body(std::span<const std::byte> bytes) = 0;
};

enum class HttpEnd {
  kComplete,     // the whole response has arrived
  kStopped,      // the sink returned false
  kStalled,      // no byte within the limit
  kUnreachable,  // no connection: name, address, refused, handshake
  kUntrusted,    // TLS: the certificate
  kBroken,       // anything else: reset, short body, bad protocol
};

struct HttpResult {
  std::uint64_t id = 0;
  HttpEnd end = HttpEnd::kBroken;
  std::string error;  // one line from the library; empty for kComplete and kStopped
};

struct HttpOptions {
  std::size_t connections_max = 32;
  std::uint64_t stall_ns = 15'000'000'000;  // without a byte either way, connecting included
  std::string ca_file;                      // empty: the system's
};

// One thread, except wake(), which any thread may call. Owns its connections. A sink must outlive
// its transfer.
class HttpTransfers {
 public:
  explicit HttpTransfers(const HttpOptions& options);
  ~HttpTransfers();

  void start(std::uint64_t id, const HttpRequest& request, HttpSink& sink);

  // Ends a transfer without a result.
  void cancel(std::uint64_t id);

  // Moves transfers on and waits at most until the deadline (monotonic_ns) for the first event.
  // Appends the ended ones to `ended`.
  void step(std::uint64_t deadline_ns, std::vector<HttpResult>& ended);

  void wake();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace echoline::source
