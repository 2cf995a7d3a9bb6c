// Judges transport failures; the operation judges every answer of the store.
#include "source/http/attempt.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"

namespace echoline::source {
namespace {

// Enough for any error text of a store.
constexpr std::size_t kErrorBodyBytesMax = 64 << 10;
// A store must not delay a request by hours.
constexpr std::uint64_t kRetryAfterMaxS = 30;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

// OpenSSL reports "wrong version number" if the server does not speak TLS.
const char* next_step(const std::string& error) {
  return error.find("wrong version number") != std::string::npos
             ? "the server speaks no TLS there: write http:// in read.url or the endpoint, or name "
               "another port"
             : "check the endpoint, the network and the proxy settings";
}

Verdict transport_verdict(const HttpResult& result) {
  switch (result.end) {
    case HttpEnd::kUntrusted:
      return {
          Status(Code::kPermissionDenied,
                 fmt::format("the server can't be trusted: {}; name its certificate authority's "
                             "file in `ca_file`, AWS_CA_BUNDLE or SSL_CERT_FILE",
                             result.error))};
    case HttpEnd::kUnreachable:
      return {Status(Code::kUnavailable, fmt::format("the server can't be reached: {}; {}",
                                                     result.error, next_step(result.error))),
              true};
    case HttpEnd::kStalled:
      return {Status(Code::kDeadlineExceeded, fmt::format("the server stalled: {}", result.error)),
              true};
    default:
      return {Status(Code::kUnavailable, fmt::format("the transfer broke: {}", result.error)),
              true};
  }
}

bool has_ended(const HttpResult& result) {
  return result.end == HttpEnd::kComplete || result.end == HttpEnd::kStopped;
}

}  // namespace

Attempt::Attempt(AttemptRole role, HttpOperation& operation, const Attempt*& answered,
                 SharedCounters& counters)
    : role_(role),
      operation_(operation),
      answered_(answered),
      counters_(counters),
      begin_ns_(monotonic_ns()) {}

Attempt::~Attempt() { SharedCounters::take(counters_.arriving, bytes_); }

bool Attempt::on_response(const HttpResponse& response) {
  response_ = response;
  if (!is_success()) return true;
  // The other attempt has a good answer already, so this one ends.
  // A replacement is the exception: it may take over from an answer in flight.
  if (answered_ != nullptr && role_ != AttemptRole::kReplacement) return false;
  return take_over(response);
}

bool Attempt::take_over(const HttpResponse& response) {
  answer_ns_ = monotonic_ns();
  // From the answer on, because the time before it is latency, not rate.
  pace_.restart(answer_ns_, 0);
  accepted_ = operation_.accept(response);
  // An answer that cannot be used does not end the slow one.
  if (answered_ == nullptr || accepted_.status.ok()) answered_ = this;
  return accepted_.status.ok();
}

bool Attempt::on_body(std::span<const std::byte> bytes) {
  SharedCounters::add(counters_.bytes, bytes.size());
  SharedCounters::add(counters_.arriving, bytes.size());
  bytes_ += bytes.size();
  // An attempt that was replaced ends here, with its next bytes.
  if (is_success()) return answered_ == this && operation_.consume(bytes);
  // Only the start of an error body is kept.
  const std::size_t room = kErrorBodyBytesMax - error_body_.size();
  error_body_.append(reinterpret_cast<const char*>(bytes.data()), std::min(room, bytes.size()));
  return error_body_.size() < kErrorBodyBytesMax;
}

Verdict Attempt::judge(const HttpResult& result) {
  if (!has_ended(result)) return transport_verdict(result);
  if (!is_success()) return operation_.refuse(response_, error_body_);
  // accept() refused the headers.
  if (!accepted_.status.ok()) return accepted_;
  Verdict verdict = operation_.complete();
  // Only complete and good answers.
  if (verdict.status.ok()) counters_.add_latency(monotonic_ns() - begin_ns_, waited_ns());
  return verdict;
}

WaitReason Attempt::reason(const HttpResult& result) const {
  if (result.end == HttpEnd::kUnreachable) return WaitReason::kUnreachable;
  if (result.end == HttpEnd::kStalled) return WaitReason::kStalled;
  // The signature or the key was refused; the credentials may be renewed.
  if (response_.status == 401 || response_.status == 403) return WaitReason::kCredentials;
  return is_throttled() ? WaitReason::kThrottled : WaitReason::kBroken;
}

AttemptEnd Attempt::end(const HttpResult& result) const {
  if (result.end == HttpEnd::kUnreachable || result.end == HttpEnd::kStalled || is_throttled())
    // An overloaded store refuses connections or stalls before it answers 503.
    return AttemptEnd::kRefused;
  return has_ended(result) ? AttemptEnd::kGood : AttemptEnd::kOther;
}

std::uint64_t Attempt::retry_after_ns() const {
  return std::min(response_.retry_after_s, kRetryAfterMaxS) * kSecondNs;
}

}  // namespace echoline::source
