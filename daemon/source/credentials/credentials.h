// Keys and tokens that authorize a request.
#pragma once

#include <ctime>
#include <string>

namespace echoline::source {

// For AWS a key, its secret and, if they are short-lived, a token; for Google only a token.
struct Credentials {
  std::string access_key;
  std::string secret_key;
  std::string token;
  std::time_t expires = 0;  // 0: not known, or never

  bool operator==(const Credentials&) const = default;
  bool anonymous() const { return access_key.empty() && token.empty(); }
};

}  // namespace echoline::source
