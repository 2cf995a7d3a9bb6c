// AWS Signature Version 4 of requests without a body to sign in pieces. Pure: time and keys are
// arguments.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace echoline::source {

struct Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  // empty for long-lived keys

  bool anonymous() const { return access_key.empty(); }
};

using NamedValues = std::vector<std::pair<std::string, std::string>>;

struct SignRequest {
  std::string method = "GET";
  std::string host;     // as in the Host header, with the port if it isn't the default
  std::string path;     // not escaped, with the leading '/'
  NamedValues query;    // not escaped
  NamedValues headers;  // further ones; all are signed
  std::string payload_sha256;
  std::string region;
};

inline constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string sha256_hex(std::string_view bytes);

// RFC 3986: everything but letters, digits, '-', '.', '_', '~' (and '/' if kept) as %XX.
std::string uri_escape(std::string_view text, bool keep_slash);

// Path and query as they go over the wire: escaped, the query sorted as the signature wants it.
std::string escaped_target(std::string_view path, const NamedValues& query);

// All headers to send: host, the given ones, x-amz-date, x-amz-content-sha256, the token and the
// Authorization; without the latter and date for anonymous credentials.
NamedValues signed_headers(const SignRequest& request, const Credentials& credentials,
                           std::time_t now);

}  // namespace echoline::source
