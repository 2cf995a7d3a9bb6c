// Where a server is: http(s)://host[:port].
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::source {

struct Endpoint {
  std::string scheme;  // "http" or "https"
  std::string host;    // with the port, if one is given

  std::string url() const { return scheme + "://" + host; }

  // Whether what is said there can be overheard: plain http that leaves this machine.
  bool is_overheard() const;
};

// kInvalidArgument, without a password that may be in it, if it can't be one. A '/' at the end is
// left out.
Result<Endpoint> parse_endpoint(std::string_view text);

// The one that a longer address begins with: "https://host/path".
Result<Endpoint> endpoint_of_url(std::string_view url);

}  // namespace echoline::source
