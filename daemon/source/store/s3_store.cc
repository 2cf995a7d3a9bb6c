// Builds requests and judges answers; nothing here waits or sends.
#include "source/store/s3_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "source/http/content_range.h"
#include "source/http/store_answer.h"

namespace echoline::source {
namespace {

// It becomes a part of a host name, so no other characters are allowed.
bool is_region(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// Codes that AWS sends with a status of its own choice.
bool retry_by_code(std::string_view code) {
  constexpr std::array<std::string_view, 6> kCodes = {"SlowDown",         "RequestTimeout",
                                                      "InternalError",    "ServiceUnavailable",
                                                      "RequestThrottled", "ThrottlingException"};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

// Error codes that other credentials can cure: they expired, or their key was replaced.
bool is_about_credentials(std::string_view code) {
  constexpr std::array<std::string_view, 8> kCodes = {
      "ExpiredToken",   "ExpiredTokenException", "InvalidToken",       "TokenRefreshRequired",
      "RequestExpired", "InvalidClientTokenId",  "InvalidAccessKeyId", "SignatureDoesNotMatch"};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

struct Hint {
  std::string_view code;
  std::string_view text;  // {}: the origin of the credentials
};

constexpr Hint kHints[] = {
    {"InvalidAccessKeyId", "check the access key, which is from {}"},
    {"SignatureDoesNotMatch", "check the secret key, which is from {}"},
    {"ExpiredToken", "renew the session token and its keys, which are from {}"},
    {"InvalidToken", "check the session token, which is from {}"},
    {"InvalidClientTokenId", "check the session token, which is from {}"},
    {"RequestTimeTooSkewed", "set this machine's clock"},
    {"NoSuchBucket", "check the bucket's name and the endpoint"},
    {"NoSuchKey", "check the name; of a folder, end it with /"},
};

std::string_view hint(int status, std::string_view code, bool anonymous, Access wanted) {
  // The code says more than the status.
  for (const Hint& known : kHints)
    if (known.code == code) return known.text;
  const bool refused = status == 401 || status == 403;
  if (refused && anonymous)
    return "set `credentials: auto` and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or another "
           "source of credentials";
  if (refused)
    return wanted == Access::kWrite
               ? "this key may not write it; allow s3:PutObject, or use another than that from {}"
               : "this key may not read it; allow s3:GetObject and s3:ListBucket, or use another "
                 "than that from {}";
  if (status == 404) return "check the name, the bucket and the endpoint";
  return hint_by_status(status);
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> S3Store::open(S3Options options) {
  std::optional<Endpoint> endpoint;
  if (!options.endpoint.empty()) {
    ECHOLINE_ASSIGN(endpoint, parse_endpoint(options.endpoint));
  }
  if (!is_region(options.region))
    return Status(Code::kInvalidArgument,
                  fmt::format("region \"{}\": write it as in us-east-1", options.region));
  return std::unique_ptr<ObjectStore>(new S3Store(std::move(options), std::move(endpoint)));
}

S3Store::BucketTarget S3Store::target_of(const std::string& bucket, const std::string& key) const {
  const bool is_aws = !endpoint_;
  BucketTarget target;
  target.scheme = is_aws ? "https" : endpoint_->scheme;
  target.host = is_aws ? fmt::format("s3.{}.amazonaws.com{}", options_.region,
                                     // China has a domain of its own.
                                     options_.region.starts_with("cn-") ? ".cn" : "")
                       : endpoint_->host;
  // The wildcard of AWS's certificate does not match a bucket name with dots.
  const bool by_default = is_aws && bucket.find('.') == std::string::npos;
  if (options_.addressing == Addressing::kVirtual ||
      (options_.addressing == Addressing::kAuto && by_default)) {
    target.host = bucket + "." + target.host;
    target.path = "/" + key;
  } else {
    target.path = "/" + bucket + "/" + key;
  }
  return target;
}

HttpRequest S3Store::signed_request(std::string method, const BucketTarget& target,
                                    NamedValues query, NamedValues headers, std::time_t now,
                                    std::string body) const {
  SignRequest sign;
  sign.method = method;
  sign.host = target.host;
  sign.path = target.path;
  sign.query = std::move(query);
  sign.headers = std::move(headers);
  // Signed, so that nobody can change the body on its way.
  sign.payload_sha256 = body.empty() ? std::string(kEmptySha256) : sha256_hex(body);
  sign.region = options_.region;
  HttpRequest request;
  request.method = std::move(method);
  request.url = target.scheme + "://" + target.host + escaped_target(sign.path, sign.query);
  // The time is signed, too: a request is valid for some minutes.
  request.headers = signed_headers(sign, options_.credentials->current(), now);
  request.body = std::move(body);
  return request;
}

HttpRequest S3Store::get(const Address& address, const std::string& version, std::uint64_t begin,
                         std::uint64_t end, std::time_t now) {
  NamedValues headers = {{"range", fmt::format("bytes={}-{}", begin, end - 1)}};
  // The store compares the version, so that a replaced object is an error and no mixture.
  if (!version.empty()) headers.emplace_back("if-match", fmt::format("\"{}\"", version));
  return signed_request("GET", target_of(address.bucket, address.path), {}, std::move(headers),
                        now);
}

// S3 sends the checksum only if the request has no range.
HttpRequest S3Store::get_whole(const Address& address, const std::string& version, std::uint64_t,
                               std::time_t now) {
  NamedValues headers = {{"x-amz-checksum-mode", "ENABLED"}};
  if (!version.empty()) headers.emplace_back("if-match", fmt::format("\"{}\"", version));
  return signed_request("GET", target_of(address.bucket, address.path), {}, std::move(headers),
                        now);
}

// HEAD needs one round trip and works for empty objects, but its errors have no text: the fallback
// is a GET.
HttpRequest S3Store::stat(const Address& address, StatMethod method, std::time_t now) {
  if (method == StatMethod::kFallback) return get(address, "", 0, 1, now);
  return signed_request("HEAD", target_of(address.bucket, address.path), {}, {}, now);
}

Result<ListEntry> S3Store::parse_stat(const HttpResponse& response, std::string_view) const {
  const auto range = parse_content_range(response.header("content-range"));
  // The fallback asks for one byte; the whole length is in Content-Range.
  const auto bytes = range ? range->total : parse_length(response.header("content-length"));
  ListEntry entry{{}, bytes.value_or(0), version_of(response)};
  if (!bytes || entry.version.empty())
    return Status(Code::kDataLoss,
                  "the answer has no length or no version (ETag); is this an object store?");
  return entry;
}

HttpRequest S3Store::list(const ListQuery& query, std::time_t now) {
  NamedValues words = {{"list-type", "2"}, {"max-keys", std::to_string(query.entries_max)}};
  // `verbatim`: keys as they are, where the encoding was ambiguous.
  if (!query.verbatim) words.emplace_back("encoding-type", "url");
  if (!query.prefix.empty()) words.emplace_back("prefix", query.prefix);
  if (!query.delimiter.empty()) words.emplace_back("delimiter", query.delimiter);
  if (!query.continuation.empty()) words.emplace_back("continuation-token", query.continuation);
  return signed_request("GET", target_of(query.bucket, ""), std::move(words), {}, now);
}

HttpRequest S3Store::put(const Address& address, const std::string& bytes, std::time_t now) {
  return signed_request("PUT", target_of(address.bucket, address.path), {},
                        {{"content-type", "application/octet-stream"}}, now, bytes);
}

std::string S3Store::version_of(const HttpResponse& response) const {
  return std::string(unquoted_etag(response.header("etag")));
}

Result<ListPage> S3Store::parse_list(const ListQuery&, const HttpResponse&,
                                     std::string_view body) const {
  return parse_s3_list(body);
}

Verdict S3Store::refuse(const HttpResponse& response, std::string_view body, Access wanted) const {
  const S3Error error = parse_s3_error(body);
  std::string text = fmt::format("the store answered {}", response.status);
  if (!error.code.empty()) text += fmt::format(" {} ({})", error.code, error.message);
  // HEAD answers have it in a header, others in the body.
  std::string region(response.header("x-amz-bucket-region"));
  if (region.empty()) region = error.region;
  return judge(response.status, error, options_.credentials->scrubbed(std::move(text)), region,
               wanted);
}

Verdict S3Store::judge(int status, const S3Error& error, std::string text, std::string_view region,
                       Access wanted) const {
  // First: a busy store may send any status.
  if (retry_by_status(status) || retry_by_code(error.code))
    return {Status(Code::kUnavailable, std::move(text)), true};
  // Redirects and signature errors with another region mean that the bucket is elsewhere.
  const bool elsewhere = status / 100 == 3 || error.code == "AuthorizationHeaderMalformed" ||
                         error.code == "IllegalLocationConstraintException";
  if (elsewhere && is_region(region) && region != options_.region)
    return {
        Status(Code::kInvalidArgument,
               fmt::format("{}: the bucket is in another region; set `region: {}`", text, region))};
  const std::string_view advice =
      hint(status, error.code, options_.credentials->is_anonymous(), wanted);
  if (!advice.empty())
    text += ": " + fmt::format(fmt::runtime(advice), options_.credentials->origin());
  // Rights, names and regions do not change with other credentials.
  if (!is_about_credentials(error.code)) return {Status(code_of_status(status), std::move(text))};
  return options_.credentials->reject(Status(Code::kPermissionDenied, std::move(text)));
}

}  // namespace echoline::source
