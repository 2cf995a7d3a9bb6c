// Requests and judgement of S3; nothing here waits or sends.
#include "source/s3_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "source/s3_list.h"

namespace echoline::source {
namespace {

bool is_host_text(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
}

bool is_region(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

bool retry_by_code(std::string_view code) {
  constexpr std::array<std::string_view, 6> kCodes = {"SlowDown",         "RequestTimeout",
                                                      "InternalError",    "ServiceUnavailable",
                                                      "RequestThrottled", "ThrottlingException"};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

bool retry_by_status(int status) {
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status != 501);
}

Code code_of_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kNotFound;
    case 412:
      return Code::kFailedPrecondition;
    case 416:
      return Code::kDataLoss;
    case 429:
      return Code::kResourceExhausted;
    case 501:
      return Code::kUnimplemented;
    default:
      return status >= 500 ? Code::kUnavailable : Code::kInvalidArgument;
  }
}

struct Hint {
  std::string_view code;
  std::string_view text;
};

constexpr Hint kHints[] = {
    {"InvalidAccessKeyId", "check AWS_ACCESS_KEY_ID"},
    {"SignatureDoesNotMatch", "check AWS_SECRET_ACCESS_KEY"},
    {"ExpiredToken", "renew AWS_SESSION_TOKEN and its keys"},
    {"InvalidToken", "check AWS_SESSION_TOKEN"},
    {"InvalidClientTokenId", "check AWS_SESSION_TOKEN"},
    {"RequestTimeTooSkewed", "set this machine's clock"},
    {"NoSuchBucket", "check the bucket's name and the endpoint"},
    {"NoSuchKey", "check the name"},
};

std::string_view hint(int status, std::string_view code, bool anonymous) {
  for (const Hint& known : kHints)
    if (known.code == code) return known.text;
  if (status == 401 || status == 403)
    return anonymous ? "set `credentials: environment`, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                     : "this key may not read it; allow s3:GetObject and s3:ListBucket, or set "
                       "another in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  if (status == 404) return "check the name, the bucket and the endpoint";
  if (status == 412) return "it changed since it was indexed; index the data set again";
  if (status == 416) return "it is shorter than the index says; index the data set again";
  return {};
}

void replace_all(std::string& text, const std::string& what) {
  if (what.empty()) return;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;)
    text.replace(at, what.size(), "...");
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> S3Store::open(S3Options options) {
  if (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  const std::string_view endpoint = options.endpoint;
  const std::size_t scheme = endpoint.find("://");
  const bool is_http = endpoint.starts_with("http://") || endpoint.starts_with("https://");
  if (!endpoint.empty() && (!is_http || !is_host_text(endpoint.substr(scheme + 3))))
    return Status(Code::kInvalidArgument,
                  fmt::format("endpoint \"{}\": write it as http://host:port or https://host",
                              endpoint.substr(endpoint.rfind('@') + 1)));
  if (!is_region(options.region))
    return Status(Code::kInvalidArgument,
                  fmt::format("region \"{}\": write it as in us-east-1", options.region));
  return std::unique_ptr<ObjectStore>(new S3Store(std::move(options)));
}

S3Store::Place S3Store::place(const std::string& bucket, const std::string& key) const {
  const bool is_aws = options_.endpoint.empty();
  Place place;
  place.scheme = "https";
  place.host = fmt::format("s3.{}.amazonaws.com{}", options_.region,
                           options_.region.starts_with("cn-") ? ".cn" : "");
  if (!is_aws) {
    const std::size_t end = options_.endpoint.find("://");
    place.scheme = options_.endpoint.substr(0, end);
    place.host = options_.endpoint.substr(end + 3);
  }
  // The certificate's wildcard doesn't cover dots in a bucket's name.
  const bool by_default = is_aws && bucket.find('.') == std::string::npos;
  if (options_.addressing == Addressing::kVirtual ||
      (options_.addressing == Addressing::kAuto && by_default)) {
    place.host = bucket + "." + place.host;
    place.path = "/" + key;
  } else {
    place.path = "/" + bucket + "/" + key;
  }
  return place;
}

HttpRequest S3Store::signed_request(std::string method, const Place& place, NamedValues query,
                                    NamedValues headers, std::time_t now) const {
  SignRequest sign;
  sign.method = method;
  sign.host = place.host;
  sign.path = place.path;
  sign.query = std::move(query);
  sign.headers = std::move(headers);
  sign.payload_sha256 = kEmptySha256;
  sign.region = options_.region;
  HttpRequest request;
  request.method = std::move(method);
  request.url = place.scheme + "://" + place.host + escaped_target(sign.path, sign.query);
  request.headers = signed_headers(sign, options_.credentials, now);
  return request;
}

HttpRequest S3Store::get(const Address& address, const std::string& version, std::uint64_t begin,
                         std::uint64_t end, std::time_t now) {
  NamedValues headers = {{"range", fmt::format("bytes={}-{}", begin, end - 1)}};
  if (!version.empty()) headers.emplace_back("if-match", fmt::format("\"{}\"", version));
  return signed_request("GET", place(address.bucket, address.path), {}, std::move(headers), now);
}

// S3 tells the checksum only of what is asked for without a range.
HttpRequest S3Store::get_whole(const Address& address, const std::string& version, std::uint64_t,
                               std::time_t now) {
  NamedValues headers = {{"x-amz-checksum-mode", "ENABLED"}};
  if (!version.empty()) headers.emplace_back("if-match", fmt::format("\"{}\"", version));
  return signed_request("GET", place(address.bucket, address.path), {}, std::move(headers), now);
}

HttpRequest S3Store::head(const Address& address, std::time_t now) {
  return signed_request("HEAD", place(address.bucket, address.path), {}, {}, now);
}

HttpRequest S3Store::list(const ListQuery& query, std::time_t now) {
  NamedValues words = {{"list-type", "2"}, {"max-keys", std::to_string(query.entries_max)}};
  if (!query.verbatim) words.emplace_back("encoding-type", "url");
  if (!query.prefix.empty()) words.emplace_back("prefix", query.prefix);
  if (!query.delimiter.empty()) words.emplace_back("delimiter", query.delimiter);
  if (!query.continuation.empty()) words.emplace_back("continuation-token", query.continuation);
  return signed_request("GET", place(query.bucket, ""), std::move(words), {}, now);
}

std::string S3Store::version_of(const HttpResponse& response) const {
  return std::string(unquoted_etag(response.header("etag")));
}

Result<ListPage> S3Store::parse_list(std::string_view body) const { return parse_s3_list(body); }

Verdict S3Store::refuse(const HttpResponse& response, std::string_view body) const {
  const int status = response.status;
  const S3Error error = parse_s3_error(body);
  std::string text = fmt::format("the store answered {}", status);
  if (!error.code.empty()) text += fmt::format(" {} ({})", error.code, error.message);
  if (retry_by_status(status) || retry_by_code(error.code))
    return {Status(Code::kUnavailable, scrubbed(std::move(text))), true};

  std::string region(response.header("x-amz-bucket-region"));
  if (region.empty()) region = error.region;
  const bool elsewhere = status / 100 == 3 || error.code == "AuthorizationHeaderMalformed" ||
                         error.code == "IllegalLocationConstraintException";
  if (elsewhere && is_region(region) && region != options_.region)
    return {Status(Code::kInvalidArgument,
                   scrubbed(fmt::format("{}: the bucket is in another region; set `region: {}`",
                                        text, region)))};
  const std::string_view advice = hint(status, error.code, options_.credentials.anonymous());
  if (!advice.empty()) text += fmt::format(": {}", advice);
  const bool is_credential = error.code == "ExpiredToken" || error.code == "InvalidToken";
  return {Status(is_credential ? Code::kPermissionDenied : code_of_status(status),
                 scrubbed(std::move(text)))};
}

// Some servers repeat what they were sent.
std::string S3Store::scrubbed(std::string text) const {
  replace_all(text, options_.credentials.secret_key);
  replace_all(text, options_.credentials.session_token);
  replace_all(text, options_.credentials.access_key);
  return text;
}

}  // namespace echoline::source
