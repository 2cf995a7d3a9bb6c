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
// Attempts before the first success: a service that is starting may fail once.
constexpr std::uint32_t kFirstAttemptsMax = 3;
// The pause after a failure doubles up to half a minute.
constexpr std::uint64_t kFailurePauseNs = kSecondNs / 4;
constexpr std::uint64_t kFailurePauseMaxNs = 30 * kSecondNs;
constexpr std::time_t kMarginSeconds = 300;

void replace_all(std::string& text, const std::string& what) {
  // find("") would match everywhere.
  if (what.empty()) return;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;)
    text.replace(at, what.size(), "...");
}

}  // namespace

CredentialSource::CredentialSource(ProviderPtr provider, const std::string& ca_file)
    : provider_(std::move(provider)),
      fetch_(std::make_unique<CredentialFetch>(*provider_, ca_file)) {}

CredentialSource::CredentialSource(Credentials fixed, std::string origin)
    : fixed_origin_(std::move(origin)), current_(std::move(fixed)), fetched_count_(1) {}

CredentialSource::~CredentialSource() = default;

Verdict CredentialSource::ready(std::time_t now) {
  const MutexLock lock(mutex_);
  if (!provider_) return {};
  // Each call moves a running renewal on; the first caller after the due time starts one.
  if (fetch_->is_running() || is_due(now)) renew(now);
  if (is_usable(now)) return {};
  if (fetch_->is_running() || failures_ == 0)
    return {Status(Code::kUnavailable,
                   fmt::format("credentials from {} are not there yet", provider_->what())),
            true};
  // Before the first success a wrong setting is the likely cause; after it, an outage that ends.
  // `may_pass` decides whether the request waits or fails.
  const bool may_pass = fetched_count_ > 0 ||
                        (failure_.code() == Code::kUnavailable && failures_ < kFirstAttemptsMax);
  return {failure_, may_pass};
}

bool CredentialSource::is_usable(std::time_t now) const {
  // Refused ones are not usable until they have been read again.
  return fetched_count_ > 0 && !refused_ && (current_.expires == 0 || now < current_.expires);
}

bool CredentialSource::is_due(std::time_t now) const {
  // The pause after a failure, for all callers together.
  if (monotonic_ns() < next_ns_) return false;
  // Before the first fetch they are not usable, so this is due at once.
  return !is_usable(now) || (current_.expires != 0 && now >= renew_at_);
}

void CredentialSource::renew(std::time_t now) {
  // Only one renewal at a time, because the lock is held.
  if (!fetch_->is_running()) fetch_->start(now);
  std::optional<Result<Credentials>> fetched = fetch_->poll(now);
  if (!fetched) return;
  if (fetched->ok())
    succeed(std::move(*fetched).value(), now);
  else
    fail(fetched->status());
}

void CredentialSource::succeed(Credentials credentials, std::time_t now) {
  const std::time_t left = credentials.expires - now;
  if (credentials.expires != 0 && left <= 0)
    return fail(Status(Code::kUnavailable, "they have expired already"));
  // Kept for scrubbing: late answers can still repeat the previous secrets.
  if (credentials != current_) previous_ = std::exchange(current_, std::move(credentials));
  // A provider may return the same credentials until shortly before they expire. A margin of a
  // quarter of the rest avoids a loop of renewals.
  renew_at_ = current_.expires - std::min(kMarginSeconds, left / 4);
  refused_ = false;
  failures_ = 0;
  ++fetched_count_;
}

void CredentialSource::fail(Status status) {
  failure_ = Status(status.code(), fmt::format("credentials from {}: {}", provider_->what(),
                                               scrub(status.message())));
  ++failures_;
  // The current ones were not replaced, so requests may try them again.
  refused_ = false;
  next_ns_ = monotonic_ns() +
             std::min(kFailurePauseMaxNs, kFailurePauseNs << std::min(failures_ - 1, 16U));
  // Only the first failure in a row is logged.
  if (failures_ == 1 && fetched_count_ > 0)
    log_warning("source",
                "{}; the current ones are used until they expire, and the renewal is retried",
                failure_.message());
}

Credentials CredentialSource::current() const {
  const MutexLock lock(mutex_);
  return current_;
}

Verdict CredentialSource::reject(Status refusal) {
  const MutexLock lock(mutex_);
  // Fixed credentials cannot change.
  if (!provider_) return {std::move(refusal)};
  const KeyRefusals::Answer answer = refusals_.refuse(monotonic_ns());
  if (answer.read_again) {
    refused_ = true;
    // At once, whatever pause a failure has set.
    next_ns_ = 0;
  }
  if (answer.is_first)
    log_warning("source",
                "a store refuses the credentials from {}; they are read again until it accepts "
                "them, and requests are retried: {}",
                provider_->what(), refusal.message());
  // kUnavailable: the stream waits instead of ending.
  if (answer.retry && !answer.is_only_this) refusal = Status(Code::kUnavailable, refusal.message());
  return {std::move(refusal), answer.retry};
}

void CredentialSource::note_accepted() {
  const MutexLock lock(mutex_);
  if (provider_ && refusals_.accept(monotonic_ns()))
    log_info("source", "the store accepts the credentials from {} again", provider_->what());
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
  // Secrets first: an access key could be a part of one.
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
  // The lock covers make(), so that two streams never make the same set twice.
  const MutexLock lock(mutex);
  // Sets that nobody holds any more.
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  if (const auto found = known.find(key); found != known.end())
    if (auto source = found->second.lock()) return source;
  auto source = make();
  known[key] = source;
  return source;
}

}  // namespace echoline::source
