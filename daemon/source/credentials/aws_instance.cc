// Instance metadata, version 2. Three requests: a session token, the name of the role, its keys.
#include <fmt/core.h>

#include <algorithm>

#include "source/credentials/aws_providers.h"
#include "source/credentials/credential_answer.h"

namespace echoline::source {
namespace {

// With the name of the role appended, the same path has its keys.
constexpr std::string_view kRolePath = "/latest/meta-data/iam/security-credentials/";
// Tokens and role names are short; anything longer is not a metadata service.
constexpr std::size_t kWordBytesMax = 1024;

// Printable characters only: the word goes into a header or a path.
bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= kWordBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

class InstanceProvider : public CredentialProvider {
 public:
  InstanceProvider(std::string endpoint, std::string hint)
      : endpoint_(std::move(endpoint)), hint_(std::move(hint)) {}

  Result<CredentialStep> start(std::time_t) override {
    // Starts over: the role of an instance can change.
    token_.clear();
    role_.clear();
    HttpRequest request = request_for("/latest/api/token");
    request.method = "PUT";
    // Six hours, the longest time that the service allows.
    request.headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}};
    return CredentialStep(std::move(request));
  }

  Result<CredentialStep> answer(const HttpResponse&, std::string_view body, std::time_t) override {
    // Both words are known, so this answer has the keys.
    if (!token_.empty() && !role_.empty()) {
      ECHOLINE_ASSIGN(Credentials credentials, parse_aws_json(body));
      return CredentialStep(std::move(credentials));
    }
    // The first line is enough: an instance has one role.
    const std::string_view word = body.substr(0, body.find('\n'));
    if (!is_word(word)) return Status(Code::kUnavailable, "its answer is not understood");
    (token_.empty() ? token_ : role_) = word;
    return CredentialStep(request_for(std::string(kRolePath) + role_));
  }

  Status refuse(int status, std::string_view) const override {
    // With a token the service is there, so 404 means that there is no role.
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
    // A proxy would ask its own metadata service.
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
