// Instance metadata, version 2. Three requests: a session token, the name of the role, its keys.
#include <fmt/core.h>

#include <algorithm>

#include "source/credentials/aws_providers.h"
#include "source/credentials/credential_answer.h"

namespace echoline::source {
namespace {

constexpr std::string_view kRolePath = "/latest/meta-data/iam/security-credentials/";
constexpr std::size_t kWordBytesMax = 1024;

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= kWordBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

class InstanceProvider : public CredentialProvider {
 public:
  InstanceProvider(std::string endpoint, std::string hint)
      : endpoint_(std::move(endpoint)), hint_(std::move(hint)) {}

  Result<CredentialStep> start(std::time_t) override {
    token_.clear();
    role_.clear();
    HttpRequest request = request_for("/latest/api/token");
    request.method = "PUT";
    request.headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}};
    return CredentialStep(std::move(request));
  }

  Result<CredentialStep> answer(const HttpResponse&, std::string_view body, std::time_t) override {
    if (!token_.empty() && !role_.empty()) {
      ECHOLINE_ASSIGN(Credentials credentials, parse_aws_json(body));
      return CredentialStep(std::move(credentials));
    }
    const std::string_view word = body.substr(0, body.find('\n'));
    if (!is_word(word)) return Status(Code::kUnavailable, "its answer is not understood");
    (token_.empty() ? token_ : role_) = word;
    return CredentialStep(request_for(std::string(kRolePath) + role_));
  }

  Status refuse(int status, std::string_view) const override {
    const bool no_role = status == 404 && !token_.empty();
    return credential_refusal(status, no_role ? "the instance has no role" : "");
  }

  // On other machines nothing answers at that address, so fail fast.
  std::uint64_t timeout_ns() const override { return 1'000'000'000; }

  std::string what() const override {
    return fmt::format("the instance's metadata service at {}{}", endpoint_, hint_);
  }

 private:
  HttpRequest request_for(const std::string& path) const {
    HttpRequest request;
    request.url = endpoint_ + path;
    request.bypasses_proxy = true;
    if (!token_.empty()) request.headers = {{"x-aws-ec2-metadata-token", token_}};
    return request;
  }

  const std::string endpoint_;
  const std::string hint_;
  std::string token_;
  std::string role_;
};

}  // namespace

ProviderPtr instance_provider(std::string endpoint, std::string hint) {
  return std::make_unique<InstanceProvider>(std::move(endpoint), std::move(hint));
}

}  // namespace echoline::source
