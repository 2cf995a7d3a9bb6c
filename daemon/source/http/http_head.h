// Assembles the head of an HTTP response, line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "source/http/http_transfers.h"

namespace echoline::source {

// The seconds until a limit on requests begins again, from a RateLimit header (an IETF draft), as
// in "api";r=0;t=55. 0 if it says nothing.
std::uint64_t rate_limit_window_s(std::string_view header);

class HttpHead {
 public:
  // Takes a status line, a header or the empty line after them. False if the head is unreasonably
  // long.
  bool take(std::string_view line);
  HttpResponse& response() { return response_; }

 private:
  HttpResponse response_;
  std::size_t bytes_ = 0;
};

}  // namespace echoline::source
