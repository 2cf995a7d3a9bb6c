// Providers that need at most one request or program.
#include "source/credentials/aws_providers.h"

#include <fmt/core.h>

#include "source/credentials/command_line.h"
#include "source/credentials/credential_answer.h"
#include "source/credentials/environment.h"
#include "source/http/endpoint.h"
#include "source/http/escape.h"

namespace echoline::source {
namespace {

class FixedProvider : public CredentialProvider {
 public:
  FixedProvider(Credentials credentials, std::string origin)
      : credentials_(std::move(credentials)), origin_(std::move(origin)) {}

  Result<CredentialStep> start(std::time_t) override { return CredentialStep(credentials_); }
  std::string what() const override { return origin_; }

 private:
  const Credentials credentials_;
  const std::string origin_;
};

class WebIdentityProvider : public CredentialProvider {
 public:
  explicit WebIdentityProvider(WebIdentity identity) : identity_(std::move(identity)) {}

  Result<CredentialStep> start(std::time_t) override {
    // Read for each renewal: the writer of the file replaces the token regularly.
    ECHOLINE_ASSIGN(std::string token, read_text_file(identity_.token_file));
    // Editors and shells end files with a newline.
    while (token.ends_with('\n')) token.pop_back();
    HttpRequest request;
    request.method = "POST";
    request.url = identity_.endpoint + "/";
    // No signature: the token proves who asks.
    request.headers = {{"content-type", "application/x-www-form-urlencoded"}};
    request.body = escaped_query({{"Action", kAction},
                                  {"Version", "2011-06-15"},
                                  {"RoleArn", identity_.role},
                                  {"RoleSessionName", identity_.session},
                                  {"WebIdentityToken", token}});
    return CredentialStep(std::move(request));
  }
  Result<CredentialStep> answer(const HttpResponse&, std::string_view body, std::time_t) override {
    ECHOLINE_ASSIGN(Credentials credentials, parse_aws_sts(body, kAction));
    return CredentialStep(std::move(credentials));
  }
  Status refuse(int status, std::string_view body) const override {
    return credential_refusal(status, aws_sts_error(body));
  }
  std::string what() const override {
    return fmt::format("{} for role {} by the token in {}", identity_.endpoint, identity_.role,
                       identity_.token_file);
  }

 private:
  static constexpr const char* kAction = "AssumeRoleWithWebIdentity";

  const WebIdentity identity_;
};

// "AWS SDKs and Tools Reference Guide", process credential provider.
class ProcessProvider : public CredentialProvider {
 public:
  ProcessProvider(std::vector<std::string> words, std::string origin)
      : words_(std::move(words)), origin_(std::move(origin)) {}

  Result<CredentialStep> start(std::time_t) override {
    // No shell: the words are those of the command line.
    return CredentialStep(ProcessCall{words_, {}});
  }
  Result<CredentialStep> output(std::string_view text, std::time_t) override {
    ECHOLINE_ASSIGN(Credentials credentials, parse_aws_process(text));
    return CredentialStep(std::move(credentials));
  }
  std::string what() const override { return origin_; }

 private:
  const std::vector<std::string> words_;
  const std::string origin_;
};

class ContainerProvider : public CredentialProvider {
 public:
  explicit ContainerProvider(ContainerService service) : service_(std::move(service)) {}

  Result<CredentialStep> start(std::time_t) override {
    // A file is read for each renewal, so a replaced token is found.
    std::string token = service_.token;
    if (!service_.token_file.empty()) {
      ECHOLINE_ASSIGN(token, read_text_file(service_.token_file));
      while (token.ends_with('\n')) token.pop_back();
    }
    // A line break would start another header.
    if (token.find_first_of("\r\n") != std::string::npos)
      return Status(Code::kPermissionDenied, "its authorization token has several lines");
    HttpRequest request;
    request.url = service_.url;
    // The service is on this machine or its host; a proxy could not reach it.
    request.bypasses_proxy = true;
    request.headers = {{"accept", "application/json"}};
    if (!token.empty()) request.headers.emplace_back("authorization", token);
    return CredentialStep(std::move(request));
  }
  Result<CredentialStep> answer(const HttpResponse&, std::string_view body, std::time_t) override {
    ECHOLINE_ASSIGN(Credentials credentials, parse_aws_json(body));
    return CredentialStep(std::move(credentials));
  }
  Status refuse(int status, std::string_view body) const override {
    return credential_refusal(status, json_text(body, "code"));
  }
  std::string what() const override { return "the container's service at " + service_.url; }

 private:
  const ContainerService service_;
};

}  // namespace

Result<std::string> aws_endpoint(const char* variable, const char* prefix,
                                 const std::string& region) {
  // The service's own variable wins over the common one.
  std::string url = from_environment({variable, "AWS_ENDPOINT_URL"});
  if (url.empty())
    url = fmt::format("https://{}.{}.amazonaws.com{}", prefix, region,
                      region.starts_with("cn-") ? ".cn" : "");
  ECHOLINE_ASSIGN(const Endpoint endpoint, parse_endpoint(url));
  // Keys and tokens are sent to this address.
  if (endpoint.is_insecure())
    return Status(Code::kPermissionDenied,
                  fmt::format("{} could be overheard; use https for {}", url, variable));
  return endpoint.url();
}

ProviderPtr fixed_provider(Credentials credentials, std::string origin) {
  return std::make_unique<FixedProvider>(std::move(credentials), std::move(origin));
}

ProviderPtr web_identity_provider(WebIdentity identity) {
  return std::make_unique<WebIdentityProvider>(std::move(identity));
}

Result<ProviderPtr> process_provider(std::string_view command_line, std::string origin) {
  auto words = split_command_line(command_line);
  if (!words.ok()) return Status(words.status()).with_context(origin);
  return ProviderPtr(
      std::make_unique<ProcessProvider>(std::move(words).value(), std::move(origin)));
}

ProviderPtr container_provider(ContainerService service) {
  return std::make_unique<ContainerProvider>(std::move(service));
}

}  // namespace echoline::source
