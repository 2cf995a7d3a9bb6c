// A renewal starts five minutes before the expiry, or after three quarters of a shorter lifetime,
// so that a short outage of the provider has no effect.
#include "source/credentials/credential_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/log.h"

namespace echoline::source {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::size_t kAnswerBytesMax = 256 << 10;
constexpr std::uint32_t kFirstAttemptsMax = 3;
constexpr std::uint64_t kFailurePauseNs = kSecondNs / 4;
constexpr std::uint64_t kFailurePauseMaxNs = 30 * kSecondNs;
constexpr std::time_t kMarginSeconds = 300;
// After a renewal, requests signed with the old credentials may still be rejected for kSettleNs. A
// rejection after that, within kHopelessNs, means that new credentials do not help.
constexpr std::uint64_t kSettleNs = 3 * kSecondNs;
constexpr std::uint64_t kHopelessNs = 60 * kSecondNs;

void replace_all(std::string& text, const std::string& what) {
  if (what.empty()) return;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;)
    text.replace(at, what.size(), "...");
}

}  // namespace

// One request and its answer as it arrives.
struct CredentialSource::PendingRequest : HttpSink {
  bool on_response(const HttpResponse& got) override {
    response = got;
    return true;
  }
  bool on_body(std::span<const std::byte> bytes) override {
    if (bytes.size() > kAnswerBytesMax - body.size()) return false;
    body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }

  HttpResponse response;
  std::string body;
};

CredentialSource::CredentialSource(std::unique_ptr<CredentialProvider> provider,
                                   const std::string& ca_file)
    : provider_(std::move(provider)),
      transfers_(std::make_unique<HttpTransfers>(HttpOptions{
          .connections_max = 1, .stall_ns = provider_->timeout_ns(), .ca_file = ca_file})) {}

CredentialSource::CredentialSource(Credentials fixed, std::string origin)
    : fixed_origin_(std::move(origin)), current_(std::move(fixed)), fetched_count_(1) {}

CredentialSource::~CredentialSource() = default;

Verdict CredentialSource::ready(std::time_t now) {
  const MutexLock lock(mutex_);
  if (!provider_) return {};
  if (pending_) poll_pending(now);
  if (!pending_ && is_due(now)) begin(now);
  if (is_usable(now)) return {};
  if (pending_ || failures_ == 0)
    return {Status(Code::kUnavailable,
                   fmt::format("credentials from {} are not there yet", provider_->what())),
            true};
  // Before the first success a wrong setting is the likely cause; after it, an outage that ends.
  const bool may_pass = fetched_count_ > 0 ||
                        (failure_.code() == Code::kUnavailable && failures_ < kFirstAttemptsMax);
  return {failure_, may_pass};
}

bool CredentialSource::is_usable(std::time_t now) const {
  return fetched_count_ > 0 && !stale_ && (current_.expires == 0 || now < current_.expires);
}

bool CredentialSource::is_due(std::time_t now) const {
  if (monotonic_ns() < next_ns_) return false;
  return !is_usable(now) || (current_.expires != 0 && now >= renew_at_);
}

void CredentialSource::begin(std::time_t now) { take(provider_->start(now), now); }

void CredentialSource::take(Result<CredentialStep> step, std::time_t now) {
  pending_.reset();
  if (!step.ok()) return fail(step.status());
  if (auto* request = std::get_if<HttpRequest>(&step.value())) return send(std::move(*request));
  succeed(std::get<Credentials>(std::move(step).value()), now);
}

void CredentialSource::send(HttpRequest request) {
  pending_ = std::make_unique<PendingRequest>();
  transfers_->start(0, request, *pending_);
}

void CredentialSource::poll_pending(std::time_t now) {
  ended_.clear();
  transfers_->step(0, ended_);
  if (ended_.empty()) return;
  const HttpResult& result = ended_.front();
  if (result.end != HttpEnd::kComplete) {
    const bool untrusted = result.end == HttpEnd::kUntrusted;
    return take(
        Status(untrusted ? Code::kPermissionDenied : Code::kUnavailable,
               result.end == HttpEnd::kStopped ? "its answer is unreasonably long" : result.error),
        now);
  }
  const auto pending = std::move(pending_);  // take() may start the next request
  const HttpResponse& response = pending->response;
  if (response.status / 100 == 2) return take(provider_->answer(response, pending->body, now), now);
  take(provider_->refuse(response.status, pending->body), now);
}

void CredentialSource::succeed(Credentials credentials, std::time_t now) {
  const std::time_t left = credentials.expires - now;
  if (credentials.expires != 0 && left <= 0)
    return fail(Status(Code::kUnavailable, "they have expired already"));
  previous_ = std::exchange(current_, std::move(credentials));
  // A provider may return the same credentials until shortly before they expire. A margin of a
  // quarter of the rest avoids a loop of renewals.
  renew_at_ = current_.expires - std::min(kMarginSeconds, left / 4);
  after_rejection_ = std::exchange(stale_, false);
  failures_ = 0;
  ++fetched_count_;
  fetched_ns_ = monotonic_ns();
}

void CredentialSource::fail(Status status) {
  failure_ = Status(status.code(), fmt::format("credentials from {}: {}", provider_->what(),
                                               scrub(status.message())));
  ++failures_;
  next_ns_ = monotonic_ns() +
             std::min(kFailurePauseMaxNs, kFailurePauseNs << std::min(failures_ - 1, 16U));
  if (failures_ == 1 && fetched_count_ > 0)
    log_warning("source",
                "{}; the current ones are used until they expire, and the renewal is retried",
                failure_.message());
}

Credentials CredentialSource::current() const {
  const MutexLock lock(mutex_);
  return current_;
}

bool CredentialSource::reject() {
  const MutexLock lock(mutex_);
  if (!provider_) return false;
  if (stale_) return true;
  const std::uint64_t age = monotonic_ns() - fetched_ns_;
  if (after_rejection_ && age < kHopelessNs) return age < kSettleNs;
  stale_ = true;
  next_ns_ = 0;
  return true;
}

bool CredentialSource::is_anonymous() const {
  const MutexLock lock(mutex_);
  return !provider_ && current_.anonymous();
}

std::string CredentialSource::origin() const {
  const MutexLock lock(mutex_);
  return provider_ ? provider_->what() : fixed_origin_;
}

std::string CredentialSource::scrubbed(std::string text) const {
  const MutexLock lock(mutex_);
  return scrub(std::move(text));
}

std::string CredentialSource::scrub(std::string text) const {
  for (const Credentials* credentials : {&current_, &previous_}) {
    replace_all(text, credentials->secret_key);
    replace_all(text, credentials->token);
    replace_all(text, credentials->access_key);
  }
  return text;
}

std::uint64_t CredentialSource::fetched_count() const {
  const MutexLock lock(mutex_);
  return fetched_count_;
}

std::shared_ptr<CredentialSource> shared_credentials(
    const std::string& key, const std::function<std::shared_ptr<CredentialSource>()>& make) {
  static Mutex mutex;
  static std::map<std::string, std::weak_ptr<CredentialSource>> known ECHOLINE_GUARDED_BY(mutex);
  const MutexLock lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  if (const auto found = known.find(key); found != known.end())
    if (auto source = found->second.lock()) return source;
  auto source = make();
  known[key] = source;
  return source;
}

}  // namespace echoline::source
