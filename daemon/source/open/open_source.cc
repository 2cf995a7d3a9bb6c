// Opens the source of a `read` step: local files or an object store, with an optional throttle.
#include "source/open/open_source.h"

#include <fmt/core.h>

#include <algorithm>

#include "echoline/v1/config.pb.h"
#include "source/core/address.h"
#include "source/core/source.h"
#include "source/local/file_source.h"
#include "source/local/number_source.h"
#include "source/open/stores.h"
#include "source/open/throttle.h"
#include "source/store/object_source.h"

namespace echoline::source {
namespace {

// Defaults of read.concurrency, read.timeout and read.stall.
constexpr std::size_t kConcurrency = 128;
constexpr std::uint64_t kTimeoutNs = 60'000'000'000;
constexpr std::uint64_t kStallNs = 15'000'000'000;

Result<std::vector<std::string>> all_urls(const v1::Read& read) {
  // In the order of the configuration: sample ids follow from it.
  std::vector<std::string> urls;
  for (const std::string& url : read.url()) {
    ECHOLINE_ASSIGN(std::vector<std::string> expanded, expand_braces(url));
    std::move(expanded.begin(), expanded.end(), std::back_inserter(urls));
  }
  if (urls.empty()) return Status(Code::kInvalidArgument, "read.url is missing; name the data set");
  return urls;
}

// One source reads from one kind of store.
Result<Scheme> common_scheme(const std::vector<std::string>& urls) {
  ECHOLINE_ASSIGN(const Address first, parse_address(urls.front()));
  for (const std::string& url : urls) {
    ECHOLINE_ASSIGN(const Address address, parse_address(url));
    if (address.scheme != first.scheme)
      return Status(
          Code::kInvalidArgument,
          fmt::format("\"{}\" and \"{}\" have different schemes; one `read` reads from one "
                      "of them",
                      urls.front(), url));
  }
  return first.scheme;
}

// As Source::answers_needed says. All addresses have been parsed before.
std::uint32_t answers_needed(const v1::Read& read, const ObjectStore& store,
                             const std::vector<std::string>& urls) {
  if (read.checksums() == "none") return 0;
  const bool all = read.checksums().empty() || read.checksums() == "all";
  // One address without TLS decides for all: the data set has one policy.
  const bool plain = std::any_of(urls.begin(), urls.end(), [&store](const std::string& url) {
    return !store.uses_tls(*parse_address(url));
  });
  return all && plain ? 2 : 1;
}

Result<std::unique_ptr<Source>> open_objects(const v1::Read& read, Scheme scheme, Access access,
                                             const std::vector<std::string>& urls,
                                             std::size_t concurrency) {
  ECHOLINE_ASSIGN(OpenedStore opened, open_store(read, scheme, access));
  ObjectSourceOptions transfer;
  transfer.concurrency = concurrency;
  // 0: not set.
  transfer.timeout_ns = read.timeout() == 0 ? kTimeoutNs : read.timeout();
  // Leaves time for several attempts within the time-out.
  transfer.stall_ns =
      std::min(read.stall() == 0 ? kStallNs : read.stall(), transfer.timeout_ns / 4);
  transfer.etag_is_md5 = opened.etag_is_md5;
  if (read.checksums() == "fast") transfer.checksums = ChecksumPolicy::Level::kFast;
  if (read.checksums() == "none") transfer.checksums = ChecksumPolicy::Level::kNone;
  transfer.answers_needed = answers_needed(read, *opened.store, urls);
  transfer.hedged = read.hedge() != "off";
  transfer.ca_file = std::move(opened.ca_file);
  auto source = std::make_unique<ObjectSource>(std::move(opened.store), std::move(transfer));
  // Fails at the start of a stream, not at its first record.
  ECHOLINE_TRY(source->probe(urls));
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace

Result<std::unique_ptr<Source>> open_source(const v1::Read& read, Access access) {
  const std::size_t concurrency = read.concurrency() == 0 ? kConcurrency : read.concurrency();
  if (read.has_python()) return NumberSource::open(concurrency);
  // Before anything is opened: a wrong address needs no credentials to be found.
  ECHOLINE_ASSIGN(const std::vector<std::string> urls, all_urls(read));
  ECHOLINE_ASSIGN(const Scheme scheme, common_scheme(urls));
  ECHOLINE_ASSIGN(auto source, scheme == Scheme::kFile
                                   ? FileSource::open(concurrency)
                                   : open_objects(read, scheme, access, urls, concurrency));
  return Throttle::over(std::move(source), read.throttle());
}

v1::Read with_endpoint(const v1::Read& read) {
  v1::Read located = read;
  const Result<std::vector<std::string>> urls = all_urls(read);
  const Result<Scheme> scheme = urls.ok() ? common_scheme(urls.value()) : urls.status();
  if (!scheme.ok()) return located;  // open_source() says why
  located.set_endpoint(*scheme == Scheme::kFile ? "" : endpoint_of(read, *scheme));
  return located;
}

}  // namespace echoline::source
