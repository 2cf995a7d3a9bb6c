// AWS Signature Version 4 for S3 and for services whose path is "/", without chunked bodies. Pure:
// time and keys are arguments.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "source/credentials/credentials.h"
#include "source/http/escape.h"

namespace echoline::source {

struct SignRequest {
  std::string method = "GET";
  std::string host;     // as in the Host header, with a non-default port
  std::string path;     // not escaped, with the leading '/'
  NamedValues query;    // not escaped
  NamedValues headers;  // additional ones; all are signed
  std::string payload_sha256;
  std::string region;
  std::string service = "s3";
};

inline constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string sha256_hex(std::string_view bytes);

// All headers to send: host, the given ones, x-amz-date, x-amz-content-sha256, the token and
// Authorization. Anonymous requests have neither date nor Authorization.
NamedValues signed_headers(const SignRequest& request, const Credentials& credentials,
                           std::time_t now);

}  // namespace echoline::source
