// Credentials that a service issues to the owner of other credentials.
#pragma once

#include "source/credentials/credential_provider.h"

namespace echoline::source {

// Gets credentials from another provider first, and exchanges them by one request.
class ExchangeProvider : public CredentialProvider {
 public:
  explicit ExchangeProvider(ProviderPtr base) : base_(std::move(base)) {}

  Result<CredentialStep> start(std::time_t now) final {
    asked_ = false;
    return after_base(base_->start(now), now);
  }
  Result<CredentialStep> answer(const HttpResponse& response, std::string_view body,
                                std::time_t now) final {
    if (!asked_) return after_base(base_->answer(response, body, now), now);
    ECHOLINE_ASSIGN(Credentials credentials, exchanged(body, now));
    return CredentialStep(std::move(credentials));
  }
  Status refuse(int status, std::string_view body) const final {
    return asked_ ? refusal(status, body) : base_->refuse(status, body).with_context(base_->what());
  }
  Result<CredentialStep> output(std::string_view text, std::time_t now) final {
    return after_base(base_->output(text, now), now);
  }

 protected:
  virtual Result<HttpRequest> request(const Credentials& base, std::time_t now) const = 0;
  virtual Result<Credentials> exchanged(std::string_view body, std::time_t now) const = 0;
  virtual Status refusal(int status, std::string_view body) const = 0;

  std::string base_name() const { return base_->what(); }

 private:
  Result<CredentialStep> after_base(Result<CredentialStep> step, std::time_t now) {
    if (!step.ok()) return Status(step.status()).with_context(base_->what());
    const auto* credentials = std::get_if<Credentials>(&step.value());
    if (credentials == nullptr) return step;
    asked_ = true;
    ECHOLINE_ASSIGN(HttpRequest next, request(*credentials, now));
    return CredentialStep(std::move(next));
  }

  const ProviderPtr base_;
  bool asked_ = false;  // for the exchange
};

}  // namespace echoline::source
