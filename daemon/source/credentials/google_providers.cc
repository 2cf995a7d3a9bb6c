// OAuth 2.0. The scope is read-only unless the source is opened for writing.
#include "source/credentials/google_providers.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "source/credentials/credential_answer.h"
#include "source/credentials/environment.h"
#include "source/credentials/jwt.h"
#include "source/http/endpoint.h"
#include "source/http/escape.h"

namespace echoline::source {
namespace {

constexpr const char* kTokenUrl = "https://oauth2.googleapis.com/token";

std::string scope_of(Access access) {
  return fmt::format("https://www.googleapis.com/auth/devstorage.{}",
                     access == Access::kWrite ? "read_write" : "read_only");
}

// A parsed key file; members are checked when they are used.
struct KeyFile {
  std::string type;
  nlohmann::json json;

  std::string text(const char* name) const {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  }
};

Result<KeyFile> read_key_file(const std::string& path) {
  ECHOLINE_ASSIGN(const std::string text, read_text_file(path));
  KeyFile file;
  file.json = nlohmann::json::parse(text, nullptr, false);
  if (!file.json.is_object())
    return Status(Code::kInvalidArgument, fmt::format("{} is no JSON key file", path));
  file.type = file.text("type");
  if (file.type != "service_account" && file.type != "authorized_user")
    return Status(Code::kInvalidArgument,
                  fmt::format("{} is of type \"{}\", which echoline does not know; use a "
                              "service account's key or `gcloud auth application-default login`",
                              path, file.type));
  return file;
}

// The assertion that a service account signs; Google exchanges it for a token of one hour.
Result<std::string> assertion(const KeyFile& file, const std::string& url, Access access,
                              std::time_t now) {
  const nlohmann::json header = {
      {"alg", "RS256"}, {"typ", "JWT"}, {"kid", file.text("private_key_id")}};
  const nlohmann::json claims = {{"iss", file.text("client_email")},
                                 {"scope", scope_of(access)},
                                 {"aud", url},
                                 {"iat", now},
                                 {"exp", now + 3600}};
  // Replaces invalid UTF-8 instead of throwing.
  const auto bytes = [](const nlohmann::json& json) {
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  return signed_jwt(bytes(header), bytes(claims), file.text("private_key"));
}

Result<NamedValues> token_form(const KeyFile& file, const std::string& url, Access access,
                               std::time_t now) {
  if (file.type == "authorized_user")
    return NamedValues{{"grant_type", "refresh_token"},
                       {"client_id", file.text("client_id")},
                       {"client_secret", file.text("client_secret")},
                       {"refresh_token", file.text("refresh_token")}};
  ECHOLINE_ASSIGN(std::string proof, assertion(file, url, access, now));
  return NamedValues{{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                     {"assertion", std::move(proof)}};
}

class KeyFileProvider : public CredentialProvider {
 public:
  KeyFileProvider(std::string path, Access access) : path_(std::move(path)), access_(access) {}

  Result<CredentialStep> start(std::time_t now) override {
    // Read again for each renewal: an administrator may have replaced it.
    ECHOLINE_ASSIGN(const KeyFile file, read_key_file(path_));
    std::string url = file.text("token_uri");
    if (url.empty()) url = kTokenUrl;
    ECHOLINE_ASSIGN(const Endpoint endpoint, endpoint_of_url(url));
    if (endpoint.is_insecure())
      return Status(Code::kPermissionDenied, "its token_uri could be overheard; use https");
    ECHOLINE_ASSIGN(const NamedValues form, token_form(file, url, access_, now));
    HttpRequest request;
    request.method = "POST";
    request.url = std::move(url);
    request.headers = {{"content-type", "application/x-www-form-urlencoded"}};
    request.body = escaped_query(form);
    return CredentialStep(std::move(request));
  }
  Result<CredentialStep> answer(const HttpResponse&, std::string_view body,
                                std::time_t now) override {
    ECHOLINE_ASSIGN(Credentials credentials, parse_oauth(body, now));
    return CredentialStep(std::move(credentials));
  }
  Status refuse(int status, std::string_view body) const override {
    return credential_refusal(status, json_text(body, "error"));
  }
  std::string what() const override { return "key file " + path_; }

 private:
  const std::string path_;
  const Access access_;
};

class MetadataProvider : public CredentialProvider {
 public:
  MetadataProvider(std::string host, std::string hint, Access access)
      : host_(std::move(host)), hint_(std::move(hint)), access_(access) {}

  Result<CredentialStep> start(std::time_t) override {
    HttpRequest request;
    request.url = "http://" + host_ +
                  escaped_target("/computeMetadata/v1/instance/service-accounts/default/token",
                                 {{"scopes", scope_of(access_)}});
    request.headers = {{"metadata-flavor", "Google"}};
    request.bypasses_proxy = true;
    return CredentialStep(std::move(request));
  }
  // Any other server at that address is not trusted.
  Result<CredentialStep> answer(const HttpResponse& response, std::string_view body,
                                std::time_t now) override {
    if (response.header("metadata-flavor") != "Google")
      return Status(Code::kPermissionDenied, "the server that answered is not a metadata server");
    ECHOLINE_ASSIGN(Credentials credentials, parse_oauth(body, now));
    return CredentialStep(std::move(credentials));
  }
  Status refuse(int status, std::string_view) const override {
    return credential_refusal(status, status == 404 ? "the machine has no service account" : "");
  }
  // On other machines nothing answers at that address, so fail fast.
  std::uint64_t timeout_ns() const override { return 1'000'000'000; }

  std::string what() const override {
    return fmt::format("the metadata server at {}{}", host_, hint_);
  }

 private:
  const std::string host_;
  const std::string hint_;
  const Access access_;
};

}  // namespace

Result<std::unique_ptr<CredentialProvider>> key_file_provider(const std::string& path,
                                                              Access access) {
  ECHOLINE_TRY(read_key_file(path).status());
  return std::unique_ptr<CredentialProvider>(std::make_unique<KeyFileProvider>(path, access));
}

std::unique_ptr<CredentialProvider> metadata_provider(std::string host, std::string hint,
                                                      Access access) {
  return std::make_unique<MetadataProvider>(std::move(host), std::move(hint), access);
}

}  // namespace echoline::source
