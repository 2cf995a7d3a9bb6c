// Credentials that a file describes: keys, or the way to get them.
#pragma once

#include <functional>

#include "source/credentials/credential_provider.h"

namespace echoline::source {

// Reads the file again for each renewal: keys may have been replaced, or come from elsewhere now.
class RereadProvider : public CredentialProvider {
 public:
  using Read = std::function<Result<ProviderPtr>()>;  // not null if ok

  RereadProvider(ProviderPtr first, Read read) : inner_(std::move(first)), read_(std::move(read)) {}

  Result<CredentialStep> start(std::time_t now) override {
    ECHOLINE_ASSIGN(inner_, read_());
    return inner_->start(now);
  }
  Result<CredentialStep> answer(const HttpResponse& response, std::string_view body,
                                std::time_t now) override {
    return inner_->answer(response, body, now);
  }
  Status refuse(int status, std::string_view body) const override {
    return inner_->refuse(status, body);
  }
  Result<CredentialStep> output(std::string_view text, std::time_t now) override {
    return inner_->output(text, now);
  }
  std::string what() const override { return inner_->what(); }

 private:
  ProviderPtr inner_;  // as the file was read last
  const Read read_;
};

}  // namespace echoline::source
