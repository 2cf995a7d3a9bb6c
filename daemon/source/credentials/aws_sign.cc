// Follows "Signature Calculations for the Authorization Header" of the S3 API reference; the tests
// use the examples of that page.
#include "source/credentials/aws_sign.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii.h"
#include "base/check.h"
#include "base/hex.h"

namespace echoline::source {
namespace {

using Digest = std::array<unsigned char, 32>;

std::string_view text_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string hex(const Digest& digest) { return to_hex(std::as_bytes(std::span(digest))); }

Digest hmac(std::string_view key, std::string_view message) {
  Digest digest{};
  unsigned int bytes = 0;
  const auto* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                          reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                          digest.data(), &bytes);
  ECHOLINE_CHECK(done != nullptr && bytes == digest.size());
  return digest;
}

// Headers in the canonical form: lower-case names, sorted.
struct CanonicalHeaders {
  std::string lines;
  std::string names;
};

CanonicalHeaders canonical(NamedValues headers) {
  // Sorted by their lower-case names, as the specification says.
  for (auto& [name, value] : headers) name = lower_ascii(name);
  std::sort(headers.begin(), headers.end());
  CanonicalHeaders result;
  for (const auto& [name, value] : headers) {
    result.lines += fmt::format("{}:{}\n", name, value);
    result.names.append(result.names.empty() ? "" : ";").append(name);
  }
  return result;
}

// The key of one day, region and service.
// Derived step by step, so that a signature shows nothing of the secret key.
Digest signing_key(const Credentials& credentials, std::string_view date,
                   const SignRequest& request) {
  const Digest date_key = hmac("AWS4" + credentials.secret_key, date);
  const Digest region_key = hmac(text_of(date_key), request.region);
  const Digest service_key = hmac(text_of(region_key), request.service);
  return hmac(text_of(service_key), "aws4_request");
}

std::string authorization(const SignRequest& request, const NamedValues& headers,
                          const Credentials& credentials, const std::string& time) {
  const CanonicalHeaders signed_part = canonical(headers);
  const std::string canonical_request = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}", request.method, uri_escape(request.path, true),
      // S3 escapes a path once; other services have the path "/", which needs no escaping.
      escaped_query(request.query), signed_part.lines, signed_part.names, request.payload_sha256);
  // The steps of the specification: canonical request, string to sign, signature.
  // The date part of the time, YYYYMMDD.
  const std::string date = time.substr(0, 8);
  const std::string scope =
      fmt::format("{}/{}/{}/aws4_request", date, request.region, request.service);
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, sha256_hex(canonical_request));
  const Digest signature = hmac(text_of(signing_key(credentials, date, request)), to_sign);
  return fmt::format("AWS4-HMAC-SHA256 Credential={}/{},SignedHeaders={},Signature={}",
                     credentials.access_key, scope, signed_part.names, hex(signature));
}

}  // namespace

// The hash of a body goes into the signature.
std::string sha256_hex(std::string_view bytes) {
  Digest digest{};
  unsigned int count = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &count, EVP_sha256(), nullptr);
  ECHOLINE_CHECK(done == 1 && count == digest.size());
  return hex(digest);
}

NamedValues signed_headers(const SignRequest& request, const Credentials& credentials,
                           std::time_t now) {
  NamedValues headers = request.headers;
  headers.emplace_back("host", request.host);
  // A public bucket takes requests without a signature.
  if (credentials.anonymous()) return headers;
  const std::string time = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now));
  headers.emplace_back("x-amz-content-sha256", request.payload_sha256);
  headers.emplace_back("x-amz-date", time);
  // Before the signature: it has to cover the token.
  if (!credentials.token.empty()) headers.emplace_back("x-amz-security-token", credentials.token);
  std::string proof = authorization(request, headers, credentials, time);
  headers.emplace_back("Authorization", std::move(proof));
  return headers;
}

}  // namespace echoline::source
