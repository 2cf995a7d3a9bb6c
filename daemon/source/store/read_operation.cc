// Checks in this order: status, version, range, length; only then are bytes written. The checksum
// of a whole object comes last.
#include "source/store/read_operation.h"

#include <fmt/core.h>

#include "base/log.h"
#include "source/http/content_range.h"

namespace echoline::source {
namespace {

// How often a whole object is requested in total while its bytes are wrong.
constexpr std::uint32_t kMismatchesMax = 4;
// How many redirects in a row are followed: more are a circle.
constexpr std::uint32_t kRedirectsMax = 5;
// How often an address that was withdrawn is replaced at once; later ones are retried with pauses.
constexpr std::uint32_t kWithdrawnMax = 1;

Verdict broken(std::string text) { return {Status(Code::kDataLoss, std::move(text)), true}; }

}  // namespace

ReadOperation::ReadOperation(ObjectStore& store, Address address, ReadRequest request,
                             ChecksumPolicy& policy, SharedCounters& counters)
    : StoreOperation(store),
      address_(std::move(address)),
      object_(std::move(request.object)),
      policy_(policy),
      counters_(counters),
      scatter_(std::move(request.segments), request.with_checksums),
      // Only then can the store's checksum of the object be compared.
      is_whole_(scatter_.begin() == 0 && scatter_.end() == object_.bytes) {}

// Changes nothing: the answer in flight may continue after a second request.
HttpRequest ReadOperation::request(std::time_t now) {
  const std::uint64_t begin = next_byte();
  // The store adds its checksum only to requests without a range.
  if (is_whole_ && begin == 0)
    return store_.get_whole(address_, object_.version, object_.bytes, now);
  return store_.get(address_, object_.version, begin, scatter_.end(), now);
}

std::uint64_t ReadOperation::next_byte() const {
  // Without a version the rest could come from another object than the start.
  if (object_.version.empty()) return scatter_.begin();
  // A checksum of the whole object needs the bytes of gaps, too.
  return checksum_ ? scatter_.position() : scatter_.next_needed();
}

void ReadOperation::forget() {
  scatter_.rewind();
  checksum_.reset();
}

Verdict ReadOperation::take_head(const HttpResponse& response) {
  const std::string version = store_.version_of(response);
  // A store that sends no version is trusted to have respected If-Match.
  if (!object_.version.empty() && !version.empty() && version != object_.version)
    return {
        Status(Code::kFailedPrecondition,
               fmt::format("it changed since it was indexed (version {} then, {} now); index the "
                           "data set again",
                           object_.version, version))};
  redirects_ = withdrawn_ = 0;
  Verdict verdict = response.status == 206 ? accept_part(response) : accept_whole(response);
  // From the first byte on; a checksum that starts in the middle would be useless.
  if (verdict.status.ok() && is_whole_ && scatter_.position() == 0)
    // Later attempts continue this checksum after the first bytes.
    checksum_ = BodyChecksum::offered(response, policy_);
  return verdict;
}

Verdict ReadOperation::accept_part(const HttpResponse& response) {
  const std::string_view text = response.header("content-range");
  const auto range = parse_content_range(text);
  // A server may send less than requested. The answer to a second request starts before the place
  // that the first answer has reached since.
  const std::uint64_t next = next_byte();
  if (!range || range->begin > next || range->end > scatter_.end())
    return broken(fmt::format("asked for bytes {}-{}, the answer is for \"{}\"", next,
                              scatter_.end() - 1, text));
  // "*": the server does not say how long the object is.
  if (range->total)
    if (Verdict verdict = check_size(*range->total); !verdict.status.ok()) return verdict;
  const std::uint64_t bytes = range->end - range->begin;
  const std::string_view length = response.header("content-length");
  if (!length.empty() && parse_length(length) != bytes)
    return broken(fmt::format("the answer's length \"{}\" contradicts its range", length));
  take_body(range->begin, bytes);
  return {};
}

void ReadOperation::take_body(std::uint64_t begin, std::uint64_t bytes) {
  // Without a version, bytes of earlier attempts may belong to another object.
  if (object_.version.empty()) forget();
  if (!checksum_) scatter_.skip_gap(begin);
  // These bytes were received by an earlier attempt.
  skip_ = scatter_.position() - begin;
  body_left_ = bytes;
  body_too_long_ = false;
}

// A server without range support sends the whole object.
Verdict ReadOperation::accept_whole(const HttpResponse& response) {
  const auto total = parse_length(response.header("content-length"));
  if (!total) return broken("the answer has neither a range nor a length");
  // The same version has the same size.
  if (!object_.version.empty() && store_.version_of(response) == object_.version &&
      *total != object_.bytes)
    return broken(
        fmt::format("the answer's length {} is not the object's {}", *total, object_.bytes));
  if (Verdict verdict = check_size(*total); !verdict.status.ok()) return verdict;
  take_body(0, *total);
  return {};
}

Verdict ReadOperation::check_size(std::uint64_t total) const {
  // The version was compared before; another length means that the store is inconsistent.
  if (!object_.version.empty() && total != object_.bytes)
    return {Status(Code::kFailedPrecondition,
                   fmt::format("it changed since it was indexed ({} bytes then, {} now); {}",
                               object_.bytes, total, kReindexHint))};
  if (total < scatter_.end())
    return {Status(Code::kDataLoss,
                   fmt::format("it ends at byte {}, but bytes up to {} were wanted; {}", total,
                               scatter_.end(), kReindexHint))};
  return {};
}

bool ReadOperation::consume(std::span<const std::byte> bytes) {
  // More than announced: the announced range was wrong, so nothing of it is used.
  body_too_long_ = bytes.size() > body_left_;
  if (body_too_long_) return false;
  body_left_ -= bytes.size();
  // consume() runs only after accept(), so these bytes belong to the checked range.
  const std::size_t skipped = std::min<std::uint64_t>(skip_, bytes.size());
  skip_ -= skipped;
  if (checksum_) checksum_->add(bytes.subspan(skipped));
  scatter_.write(bytes.subspan(skipped));
  return !scatter_.done() ||
         body_left_ == 0;  // reading a body to its end keeps the connection open
}

Verdict ReadOperation::complete() {
  // What was written may be wrong, so the next attempt starts again.
  if (body_too_long_) {
    forget();
    return broken("the body is longer than announced");
  }
  // Worth a retry: the next attempt continues behind what has arrived.
  if (!scatter_.done())
    return broken(
        fmt::format("the body ended {} bytes too early", scatter_.end() - scatter_.position()));
  return check_bytes();
}

Verdict ReadOperation::check_bytes() {
  if (!checksum_) return {};
  const bool is_etag = checksum_->kind() == BodyChecksum::Kind::kEtag;
  const std::string value = checksum_->value();
  if (checksum_->agrees()) {
    SharedCounters::add(counters_.checked, 1);
    if (is_etag) policy_.etag_held = true;
    return {};
  }
  // Received twice, the bytes are what the store has, so its ETags are not MD5 sums, unless one has
  // matched before.
  if (is_etag && value == mismatched_ && !policy_.etag_held) {
    policy_.etag_is_md5 = false;
    log_warning("source",
                "{}: its ETag is not the MD5 of its bytes; ETags of this store are used "
                "as versions only",
                object_.url);
    return {};
  }
  mismatched_ = value;
  // Until an ETag has held, this may also be a store whose ETags are no MD5 sums.
  if (!is_etag || policy_.etag_held) SharedCounters::add(counters_.damaged, 1);
  const std::string_view name = checksum_->name();
  // All bytes are requested again, because it is not known which are wrong.
  forget();
  Verdict verdict = broken(fmt::format(
      "its bytes do not match the store's {}; if they are right, upload the object again, "
      "or set read.checksums: none",
      name));
  // After so many equal failures the store's object is damaged.
  verdict.retry = ++mismatches_ < kMismatchesMax;
  return verdict;
}

// The store is always told, so that it never keeps an address that was refused.
bool ReadOperation::is_elsewhere(const HttpResponse& response) {
  if (!store_.moves(address_, object_.version, response)) return false;
  if (response.status / 100 == 3) return ++redirects_ <= kRedirectsMax;
  redirects_ = 0;
  return ++withdrawn_ <= kWithdrawnMax;
}

Verdict ReadOperation::refuse(const HttpResponse& response, std::string_view body) {
  if (is_elsewhere(response)) return {Status(Code::kUnavailable, "it has moved"), true, true};
  return store_.refuse(response, body, Access::kRead);
}

}  // namespace echoline::source
