// The head of an HTTP response, put together line by line.
#pragma once

#include <cstddef>
#include <string_view>

#include "source/http/http_transfers.h"

namespace echoline::source {

class HttpHead {
 public:
  // A status line, a header or the empty line after them; false if it grows beyond reason.
  bool take(std::string_view line);
  HttpResponse& response() { return response_; }

 private:
  HttpResponse response_;
  std::size_t bytes_ = 0;
};

}  // namespace echoline::source
