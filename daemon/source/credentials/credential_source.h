// Credentials that are renewed before they expire. All streams with the same configuration share
// one set.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "source/credentials/credential_fetch.h"
#include "source/credentials/credential_provider.h"
#include "source/credentials/key_refusals.h"
#include "source/http/http_operation.h"

namespace echoline::source {

// Thread-safe, and nothing blocks. There is no renewal thread: each call of ready() moves the
// renewal on, and all callers share one renewal.
class CredentialSource {
 public:
  // `ca_file` is for https; empty means the system's authorities.
  CredentialSource(ProviderPtr provider, const std::string& ca_file);
  // Fixed credentials that are never renewed; `origin` is for messages.
  explicit CredentialSource(Credentials fixed, std::string origin = {});
  ~CredentialSource();

  // Ok if current() can be used. A verdict to retry while they are being fetched, or after a failed
  // renewal of credentials that worked before.
  Verdict ready(std::time_t now);

  Credentials current() const;

  // A store refused them, with this error: unknown, wrong or expired. They are read again from
  // where they come from, and the verdict says whether the request should be retried. It has the
  // code kUnavailable while new ones may still come.
  Verdict reject(Status refusal);
  // A store accepted them.
  void note_accepted();

  bool is_anonymous() const;

  // "profile photos in /home/me/.aws/credentials", for messages.
  std::string origin() const;

  // The text with all secrets removed, those of the previous credentials included.
  std::string scrubbed(std::string text) const;

  // How often they were fetched.
  std::uint64_t fetched_count() const;

 private:
  // Starts a renewal or moves the running one on.
  void renew(std::time_t now) ECHOLINE_REQUIRES(mutex_);
  // Takes new credentials.
  void succeed(Credentials credentials, std::time_t now) ECHOLINE_REQUIRES(mutex_);
  // Notes a failed renewal; the current credentials stay.
  void fail(Status status) ECHOLINE_REQUIRES(mutex_);
  // Whether requests may use the current ones.
  bool is_usable(std::time_t now) const ECHOLINE_REQUIRES(mutex_);
  // Whether a renewal should start now.
  bool is_due(std::time_t now) const ECHOLINE_REQUIRES(mutex_);
  // As scrubbed().
  std::string scrub(std::string text) const ECHOLINE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  const ProviderPtr provider_ ECHOLINE_PT_GUARDED_BY(mutex_);
  const std::string fixed_origin_;
  Credentials current_ ECHOLINE_GUARDED_BY(mutex_);
  Credentials previous_ ECHOLINE_GUARDED_BY(mutex_);
  std::time_t renew_at_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  // By a store: not used until they have been read again.
  bool refused_ ECHOLINE_GUARDED_BY(mutex_) = false;
  KeyRefusals refusals_ ECHOLINE_GUARDED_BY(mutex_);
  std::uint64_t fetched_count_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_ns_ ECHOLINE_GUARDED_BY(mutex_) = 0;  // no renewal before this
  std::uint32_t failures_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  Status failure_ ECHOLINE_GUARDED_BY(mutex_);
  // Null if they are fixed.
  std::unique_ptr<CredentialFetch> fetch_ ECHOLINE_GUARDED_BY(mutex_);
};

// The set with this key, created by `make` if the process has none. It lives as long as anyone
// holds it. The key names the origin and contains no secret.
std::shared_ptr<CredentialSource> shared_credentials(
    const std::string& key, const std::function<std::shared_ptr<CredentialSource>()>& make);

}  // namespace echoline::source
