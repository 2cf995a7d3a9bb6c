// Credentials that are renewed before they expire, one set for all streams that use the same.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "source/credentials/credentials.h"
#include "source/http/http_operation.h"
#include "source/http/http_transfers.h"

namespace echoline::source {

// On the way to credentials: a question to ask next, or the credentials themselves.
using CredentialStep = std::variant<HttpRequest, Credentials>;

// Where credentials come from: which questions to ask, and what the answers mean. Called by one
// thread at a time. kUnavailable may pass; any other error is final until the next attempt. Errors
// never hold a secret.
class CredentialRecipe {
 public:
  virtual ~CredentialRecipe() = default;

  virtual Result<CredentialStep> start(std::time_t now) = 0;

  // To a 2xx answer to the last question.
  virtual Result<CredentialStep> answer(const HttpResponse& response, std::string_view body,
                                        std::time_t now) = 0;

  // What any other answer means.
  virtual Status refuse(int status, std::string_view body) const = 0;

  // How long a question waits for a byte of its answer.
  virtual std::uint64_t patience_ns() const { return 5'000'000'000; }

  // "the instance's metadata service at http://...", for messages.
  virtual std::string what() const = 0;
};

// Any thread may call it, and nothing waits: whoever needs credentials moves their renewal on by
// asking whether they are ready. That takes the place of a thread of its own; those who ask at the
// same time share one renewal.
class CredentialSource {
 public:
  // The authority file is for https; empty is the system's.
  CredentialSource(std::unique_ptr<CredentialRecipe> recipe, const std::string& ca_file);
  // Credentials that are never renewed, and where they are from.
  explicit CredentialSource(Credentials fixed, std::string origin = {});
  ~CredentialSource();

  // Ok if current() can be used; a retry is worth a moment's wait while they are being fetched, or
  // when ones that worked before could not be renewed.
  Verdict ready(std::time_t now);

  Credentials current() const;

  // A store said that they have expired; whether another attempt may do better.
  bool reject();

  bool is_anonymous() const;

  // "profile photos in /home/me/.aws/credentials", for messages.
  std::string origin() const;

  // Text without any of their secrets, those just replaced included.
  std::string scrubbed(std::string text) const;

  // Times they were fetched.
  std::uint64_t fetched_count() const;

 private:
  struct Question;

  void begin(std::time_t now);
  void take(Result<CredentialStep> step, std::time_t now);
  void ask(HttpRequest request);
  void move_on(std::time_t now);
  void succeed(Credentials credentials, std::time_t now);
  void fail(Status status);
  bool is_usable(std::time_t now) const;
  bool is_due(std::time_t now) const;
  std::string scrub(std::string text) const;

  mutable std::mutex mutex_;  // guards everything below
  const std::unique_ptr<CredentialRecipe> recipe_;
  const std::string fixed_origin_;
  Credentials current_;
  Credentials previous_;
  std::time_t renew_at_ = 0;
  bool stale_ = false;            // rejected: not to be used again
  bool after_rejection_ = false;  // the current ones were fetched because the last were rejected
  std::uint64_t fetched_count_ = 0;
  std::uint64_t fetched_ns_ = 0;
  std::uint64_t next_ns_ = 0;  // no renewal before this
  std::uint32_t failures_ = 0;
  Status failure_;
  std::unique_ptr<Question> question_;  // being asked
  std::unique_ptr<HttpTransfers> transfers_;
  std::vector<HttpResult> ended_;
};

// The one set in this process that goes by this key, made if there is none; it lives as long as
// somebody holds it. The key names where they come from and holds no secret.
std::shared_ptr<CredentialSource> shared_credentials(
    const std::string& key, const std::function<std::shared_ptr<CredentialSource>()>& make);

}  // namespace echoline::source
