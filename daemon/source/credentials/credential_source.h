// Credentials that are renewed before they expire. All streams with the same configuration share
// one set.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "source/credentials/credentials.h"
#include "source/http/http_operation.h"
#include "source/http/http_transfers.h"

namespace echoline::source {

// The result of one step of a renewal: the next request to send, or the credentials.
using CredentialStep = std::variant<HttpRequest, Credentials>;

// Where credentials come from: which requests to send, and how to read the answers. Called by one
// thread at a time. kUnavailable may be temporary; any other error is final until the next renewal.
// Errors never contain a secret.
class CredentialProvider {
 public:
  virtual ~CredentialProvider() = default;

  virtual Result<CredentialStep> start(std::time_t now) = 0;

  // Takes a 2xx answer to the last request.
  virtual Result<CredentialStep> answer(const HttpResponse& response, std::string_view body,
                                        std::time_t now) = 0;

  // The error for any other answer.
  virtual Status refuse(int status, std::string_view body) const = 0;

  // How long a request may wait without receiving a byte.
  virtual std::uint64_t timeout_ns() const { return 5'000'000'000; }

  // "the instance's metadata service at http://...", for messages.
  virtual std::string what() const = 0;
};

// Thread-safe, and nothing blocks. There is no renewal thread: each call of ready() moves the
// renewal on, and all callers share one renewal.
class CredentialSource {
 public:
  // `ca_file` is for https; empty means the system's authorities.
  CredentialSource(std::unique_ptr<CredentialProvider> provider, const std::string& ca_file);
  // Fixed credentials that are never renewed; `origin` is for messages.
  explicit CredentialSource(Credentials fixed, std::string origin = {});
  ~CredentialSource();

  // Ok if current() can be used. A verdict to retry while they are being fetched, or after a failed
  // renewal of credentials that worked before.
  Verdict ready(std::time_t now);

  Credentials current() const;

  // A store said that they have expired. Returns whether a retry may succeed.
  bool reject();

  bool is_anonymous() const;

  // "profile photos in /home/me/.aws/credentials", for messages.
  std::string origin() const;

  // The text with all secrets removed, those of the previous credentials included.
  std::string scrubbed(std::string text) const;

  // How often they were fetched.
  std::uint64_t fetched_count() const;

 private:
  struct PendingRequest;

  // Starts a renewal.
  void begin(std::time_t now) ECHOLINE_REQUIRES(mutex_);
  void take(Result<CredentialStep> step, std::time_t now) ECHOLINE_REQUIRES(mutex_);
  void send(HttpRequest request) ECHOLINE_REQUIRES(mutex_);
  // Takes the answer to the pending request, if it has come.
  void poll_pending(std::time_t now) ECHOLINE_REQUIRES(mutex_);
  void succeed(Credentials credentials, std::time_t now) ECHOLINE_REQUIRES(mutex_);
  void fail(Status status) ECHOLINE_REQUIRES(mutex_);
  bool is_usable(std::time_t now) const ECHOLINE_REQUIRES(mutex_);
  bool is_due(std::time_t now) const ECHOLINE_REQUIRES(mutex_);
  std::string scrub(std::string text) const ECHOLINE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  const std::unique_ptr<CredentialProvider> provider_ ECHOLINE_PT_GUARDED_BY(mutex_);
  const std::string fixed_origin_;
  Credentials current_ ECHOLINE_GUARDED_BY(mutex_);
  Credentials previous_ ECHOLINE_GUARDED_BY(mutex_);
  std::time_t renew_at_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  // A store rejected them: do not use them again.
  bool stale_ ECHOLINE_GUARDED_BY(mutex_) = false;
  // The current ones were fetched after a rejection.
  bool after_rejection_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::uint64_t fetched_count_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::uint64_t fetched_ns_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_ns_ ECHOLINE_GUARDED_BY(mutex_) = 0;  // no renewal before this
  std::uint32_t failures_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  Status failure_ ECHOLINE_GUARDED_BY(mutex_);
  // Null if no renewal is in progress.
  std::unique_ptr<PendingRequest> pending_ ECHOLINE_GUARDED_BY(mutex_);
  std::unique_ptr<HttpTransfers> transfers_ ECHOLINE_GUARDED_BY(mutex_);
  std::vector<HttpResult> ended_ ECHOLINE_GUARDED_BY(mutex_);
};

// The set with this key, created by `make` if the process has none. It lives as long as anyone
// holds it. The key names the origin and contains no secret.
std::shared_ptr<CredentialSource> shared_credentials(
    const std::string& key, const std::function<std::shared_ptr<CredentialSource>()>& make);

}  // namespace echoline::source
