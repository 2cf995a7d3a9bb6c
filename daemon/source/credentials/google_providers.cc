// OAuth 2.0. The scope is read-only unless the source is opened for writing.
#include "source/credentials/google_providers.h"

#include <fmt/core.h>

#include "source/credentials/credential_answer.h"
#include "source/credentials/environment.h"
#include "source/credentials/google_key_file.h"
#include "source/credentials/jwt.h"
#include "source/credentials/reread_provider.h"
#include "source/http/escape.h"

namespace echoline::source {
namespace {

constexpr const char* kTokenUrl = "https://oauth2.googleapis.com/token";

std::string scope_of(Access access) {
  return fmt::format("https://www.googleapis.com/auth/devstorage.{}",
                     access == Access::kWrite ? "read_write" : "read_only");
}

// The assertion that a service account signs; Google exchanges it for a token of one hour.
Result<std::string> assertion(const GoogleKey& key, const std::string& url, std::time_t now) {
  // JWS by RFC 7515, claims by Google's "Using OAuth 2.0 for server to server applications".
  const nlohmann::json header = {
      {"alg", "RS256"}, {"typ", "JWT"}, {"kid", key.text("private_key_id")}};
  const nlohmann::json claims = {{"iss", key.text("client_email")},
                                 {"scope", key.scope},
                                 // The address that takes the assertion, so that nobody can use it
                                 // elsewhere.
                                 {"aud", url},
                                 {"iat", now},
                                 // The longest lifetime that Google accepts.
                                 {"exp", now + 3600}};
  return signed_jwt(json_bytes(header), json_bytes(claims), key.text("private_key"));
}

Result<NamedValues> token_form(const GoogleKey& key, const std::string& url, std::time_t now) {
  // A person's login: its refresh token is exchanged.
  if (key.type() == "authorized_user")
    return NamedValues{{"grant_type", "refresh_token"},
                       {"client_id", key.text("client_id")},
                       {"client_secret", key.text("client_secret")},
                       {"refresh_token", key.text("refresh_token")}};
  ECHOLINE_ASSIGN(std::string proof, assertion(key, url, now));
  return NamedValues{{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                     {"assertion", std::move(proof)}};
}

// A service account's key, or a person's login.
class KeyProvider : public CredentialProvider {
 public:
  explicit KeyProvider(GoogleKey key) : key_(std::move(key)) {}

  Result<CredentialStep> start(std::time_t now) override {
    std::string url = key_.text("token_uri");
    // Key files name the address; old ones lack it.
    if (url.empty()) url = kTokenUrl;
    ECHOLINE_ASSIGN(const NamedValues form, token_form(key_, url, now));
    ECHOLINE_ASSIGN(HttpRequest request, google_form("token_uri", url, form));
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
  std::string what() const override { return "key file " + key_.path; }

 private:
  const GoogleKey key_;
};

bool is_plain(const GoogleKey& key) {
  return key.type() == "service_account" || key.type() == "authorized_user";
}

Result<ProviderPtr> provider_of(GoogleKey key) {
  if (is_plain(key)) return ProviderPtr(std::make_unique<KeyProvider>(std::move(key)));
  if (key.type() == "external_account") return external_account_provider(std::move(key));
  if (key.type() == "impersonated_service_account") {
    // The base needs the scope to impersonate; the key's own scope is that of the result.
    GoogleKey base{key.path, key.object("source_credentials"), kGoogleCloudScope, key.may_run};
    if (is_plain(base))
      return impersonation_provider(std::move(key), std::make_unique<KeyProvider>(std::move(base)));
    return key.wrong(
        fmt::format("has source_credentials of type \"{}\"; they can be a service_account or an "
                    "authorized_user",
                    base.type()));
  }
  return key.wrong(
      fmt::format("is of type \"{}\", which echoline does not know; use a service account's key "
                  "or `gcloud auth application-default login`",
                  key.type()));
}

Result<ProviderPtr> read_key_file(const std::string& path, Access access, bool may_run) {
  ECHOLINE_ASSIGN(const std::string text, read_text_file(path));
  GoogleKey key{path, nlohmann::json::parse(text, nullptr, false), scope_of(access), may_run};
  // `discarded` for text that is no JSON: no object.
  if (!key.json.is_object()) return key.wrong("is no JSON key file");
  return provider_of(std::move(key));
}

class MetadataProvider : public CredentialProvider {
 public:
  MetadataProvider(std::string host, std::string hint, Access access)
      : host_(std::move(host)), hint_(std::move(hint)), access_(access) {}

  Result<CredentialStep> start(std::time_t) override {
    HttpRequest request;
    request.url = "http://" + host_ +
                  escaped_target("/computeMetadata/v1/instance/service-accounts/default/token",
                                 {{"scopes", scope_of(access_)}});
    // The service answers only requests with this header, which a browser cannot send by accident.
    request.headers = {{"metadata-flavor", "Google"}};
    // A proxy would ask its own metadata server.
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

Result<ProviderPtr> key_file_provider(const std::string& path, Access access, bool may_run) {
  ECHOLINE_ASSIGN(ProviderPtr first, read_key_file(path, access, may_run));
  return ProviderPtr(std::make_unique<RereadProvider>(
      std::move(first), [path, access, may_run] { return read_key_file(path, access, may_run); }));
}

ProviderPtr metadata_provider(std::string host, std::string hint, Access access) {
  return std::make_unique<MetadataProvider>(std::move(host), std::move(hint), access);
}

}  // namespace echoline::source
