// The address of a server: http(s)://host[:port].
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::source {

struct Endpoint {
  std::string scheme;  // "http" or "https"
  std::string host;    // with the port, if one is given

  std::string url() const { return scheme + "://" + host; }

  bool is_tls() const { return scheme == "https"; }
  // Whether others can read the traffic: plain http to another machine.
  bool is_insecure() const;
};

// kInvalidArgument for any other text; the message leaves out a password that it may contain. A '/'
// at the end is dropped.
Result<Endpoint> parse_endpoint(std::string_view text);

// The endpoint at the start of a longer address: "https://host/path".
Result<Endpoint> endpoint_of_url(std::string_view url);

}  // namespace echoline::source
