// From the `read` step of a stream to a source that works: the only place that reads the
// environment.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "echoline/v1/config.pb.h"
#include "source/address.h"
#include "source/file_source.h"
#include "source/object_source.h"
#include "source/s3_store.h"
#include "source/source.h"
#include "source/throttle.h"

namespace echoline::source {
namespace {

constexpr std::size_t kConcurrency = 128;
constexpr std::uint64_t kTimeoutNs = 60'000'000'000;
constexpr std::uint64_t kStallNs = 15'000'000'000;

// The first of the variables that is set and not empty.
std::string from_environment(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name); value != nullptr && *value != 0) return value;
  return {};
}

std::string first_set(const std::string& configured, std::initializer_list<const char*> names) {
  return configured.empty() ? from_environment(names) : configured;
}

Result<std::vector<std::string>> all_urls(const v1::Read& read) {
  std::vector<std::string> urls;
  for (const std::string& url : read.url()) {
    ECHOLINE_ASSIGN(std::vector<std::string> expanded, expand_braces(url));
    std::move(expanded.begin(), expanded.end(), std::back_inserter(urls));
  }
  if (urls.empty()) return Status(Code::kInvalidArgument, "read.url is missing; name the data set");
  return urls;
}

Result<Scheme> common_scheme(const std::vector<std::string>& urls) {
  ECHOLINE_ASSIGN(const Address first, parse_address(urls.front()));
  for (const std::string& url : urls) {
    ECHOLINE_ASSIGN(const Address address, parse_address(url));
    if (address.scheme != first.scheme)
      return Status(
          Code::kInvalidArgument,
          fmt::format("\"{}\" and \"{}\" are of different schemes; one `read` reads from one "
                      "of them",
                      urls.front(), url));
  }
  return first.scheme;
}

Result<Credentials> credentials_of(const v1::Read& read) {
  if (read.credentials() == "anonymous") return Credentials{};
  Credentials credentials{from_environment({"AWS_ACCESS_KEY_ID"}),
                          from_environment({"AWS_SECRET_ACCESS_KEY"}),
                          from_environment({"AWS_SESSION_TOKEN"})};
  if (credentials.access_key.empty() || credentials.secret_key.empty())
    return Status(Code::kPermissionDenied,
                  fmt::format("{} is not set; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                              "`credentials: anonymous` for a public bucket",
                              credentials.access_key.empty() ? "AWS_ACCESS_KEY_ID"
                                                             : "AWS_SECRET_ACCESS_KEY"));
  return credentials;
}

Result<S3Options> s3_options(const v1::Read& read) {
  S3Options options;
  options.endpoint = first_set(read.endpoint(), {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  options.region = first_set(read.region(), {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (options.region.empty()) options.region = "us-east-1";
  if (read.addressing() == "path") options.addressing = Addressing::kPath;
  if (read.addressing() == "virtual") options.addressing = Addressing::kVirtual;
  ECHOLINE_ASSIGN(options.credentials, credentials_of(read));
  return options;
}

Result<std::unique_ptr<Source>> open_s3(const v1::Read& read, const std::vector<std::string>& urls,
                                        std::size_t concurrency) {
  ECHOLINE_ASSIGN(S3Options options, s3_options(read));
  ECHOLINE_ASSIGN(auto store, S3Store::open(std::move(options)));
  ObjectSourceOptions transfer;
  transfer.concurrency = concurrency;
  transfer.timeout_ns = read.timeout() == 0 ? kTimeoutNs : read.timeout();
  // Room for some attempts within the time-out.
  transfer.stall_ns =
      std::min(read.stall() == 0 ? kStallNs : read.stall(), transfer.timeout_ns / 4);
  transfer.etag_is_md5 = true;
  if (read.checksums() == "fast") transfer.checksums = ChecksumPolicy::Level::kFast;
  if (read.checksums() == "none") transfer.checksums = ChecksumPolicy::Level::kNone;
  transfer.ca_file = from_environment({"AWS_CA_BUNDLE"});
  auto source = std::make_unique<ObjectSource>(std::move(store), std::move(transfer));
  ECHOLINE_TRY(source->probe(urls));
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace

Result<std::vector<ObjectInfo>> Source::list_all(const std::vector<std::string>& urls) {
  std::vector<ObjectInfo> all;
  for (const std::string& url : urls) {
    ECHOLINE_ASSIGN(std::vector<ObjectInfo> listed, list(url));
    std::move(listed.begin(), listed.end(), std::back_inserter(all));
  }
  return all;
}

Result<std::unique_ptr<Source>> open_source(const v1::Read& read) {
  ECHOLINE_ASSIGN(const std::vector<std::string> urls, all_urls(read));
  ECHOLINE_ASSIGN(const Scheme scheme, common_scheme(urls));
  const std::size_t concurrency = read.concurrency() == 0 ? kConcurrency : read.concurrency();
  ECHOLINE_ASSIGN(auto source, scheme == Scheme::kS3 ? open_s3(read, urls, concurrency)
                                                     : FileSource::open(concurrency));
  return Throttle::over(std::move(source), read.throttle());
}

Result<std::vector<std::byte>> read_range(Source& source, const ObjectInfo& object,
                                          std::uint64_t offset, std::uint64_t bytes) {
  ECHOLINE_CHECK(source.counters().in_flight == 0);
  std::vector<std::byte> data(bytes);
  ReadRequest request;
  request.object = object;
  request.segments.push_back({offset, data});
  source.submit(std::move(request));
  std::vector<ReadResult> done;
  while (done.empty()) source.poll(UINT64_MAX, done);
  ECHOLINE_TRY(std::move(done[0].status));
  return data;
}

}  // namespace echoline::source
