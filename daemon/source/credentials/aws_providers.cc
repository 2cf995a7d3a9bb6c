// Providers that need at most one request: profile, web identity and container.
#include "source/credentials/aws_providers.h"

#include <fmt/core.h>

#include "source/credentials/credential_answer.h"
#include "source/credentials/environment.h"
#include "source/http/escape.h"
#include "source/http/xml.h"

namespace echoline::source {
namespace {

class ProfileProvider : public CredentialProvider {
 public:
  ProfileProvider(AwsFiles files, std::string name)
      : files_(std::move(files)), name_(std::move(name)) {}

  Result<CredentialStep> start(std::time_t) override {
    ECHOLINE_ASSIGN(Settings settings, read_profile(files_, name_));
    // For messages: which of the two files has the key.
    ECHOLINE_ASSIGN(const Settings own, read_profile({files_.credentials, ""}, name_));
    file_ = own.contains("aws_access_key_id") ? files_.credentials : files_.config;
    Credentials credentials{settings["aws_access_key_id"], settings["aws_secret_access_key"],
                            settings["aws_session_token"], 0};
    if (credentials.access_key.empty() || credentials.secret_key.empty())
      return Status(Code::kPermissionDenied,
                    "it needs both aws_access_key_id and aws_secret_access_key");
    return CredentialStep(std::move(credentials));
  }
  Result<CredentialStep> answer(const HttpResponse&, std::string_view, std::time_t) override {
    return Status(Code::kInternal, "nothing was asked");
  }
  Status refuse(int status, std::string_view) const override {
    return credential_refusal(status, "");
  }
  std::string what() const override { return fmt::format("profile {} in {}", name_, file_); }

 private:
  const AwsFiles files_;
  const std::string name_;
  std::string file_ = files_.credentials;  // the file that has the key
};

class WebIdentityProvider : public CredentialProvider {
 public:
  explicit WebIdentityProvider(WebIdentity identity) : identity_(std::move(identity)) {}

  Result<CredentialStep> start(std::time_t) override {
    ECHOLINE_ASSIGN(std::string token, read_text_file(identity_.token_file));
    while (token.ends_with('\n')) token.pop_back();
    HttpRequest request;
    request.method = "POST";
    request.url = identity_.endpoint + "/";
    request.headers = {{"content-type", "application/x-www-form-urlencoded"}};
    request.body = escaped_query({{"Action", "AssumeRoleWithWebIdentity"},
                                  {"Version", "2011-06-15"},
                                  {"RoleArn", identity_.role},
                                  {"RoleSessionName", identity_.session},
                                  {"WebIdentityToken", token}});
    return CredentialStep(std::move(request));
  }
  Result<CredentialStep> answer(const HttpResponse&, std::string_view body, std::time_t) override {
    ECHOLINE_ASSIGN(Credentials credentials, parse_aws_sts(body));
    return CredentialStep(std::move(credentials));
  }
  // Shows only the error code: the message may repeat the token.
  Status refuse(int status, std::string_view body) const override {
    std::string code;
    const Status read = read_xml(body, [&code](std::string_view path, std::string_view text) {
      if (path == "ErrorResponse/Error/Code") code = text;
    });
    return credential_refusal(status, read.ok() ? code : "");
  }
  std::string what() const override {
    return fmt::format("{} for role {} by the token in {}", identity_.endpoint, identity_.role,
                       identity_.token_file);
  }

 private:
  const WebIdentity identity_;
};

class ContainerProvider : public CredentialProvider {
 public:
  explicit ContainerProvider(ContainerService service) : service_(std::move(service)) {}

  Result<CredentialStep> start(std::time_t) override {
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

std::unique_ptr<CredentialProvider> profile_provider(AwsFiles files, std::string name) {
  return std::make_unique<ProfileProvider>(std::move(files), std::move(name));
}

std::unique_ptr<CredentialProvider> web_identity_provider(WebIdentity identity) {
  return std::make_unique<WebIdentityProvider>(std::move(identity));
}

std::unique_ptr<CredentialProvider> container_provider(ContainerService service) {
  return std::make_unique<ContainerProvider>(std::move(service));
}

}  // namespace echoline::source
