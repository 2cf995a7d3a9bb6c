// "AWS SDKs and Tools Reference Guide", IAM Identity Center credential provider and SSO token
// provider: GetRoleCredentials of the portal, with the token that a person's login has left in the
// cache; CreateToken of the OIDC service renews it.
#include <fmt/chrono.h>
#include <fmt/core.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "base/atomic_file.h"
#include "base/hex.h"
#include "base/log.h"
#include "source/credentials/aws_providers.h"
#include "source/credentials/credential_answer.h"
#include "source/credentials/environment.h"
#include "source/credentials/json_members.h"
#include "source/http/escape.h"

namespace echoline::source {
namespace {

using Json = nlohmann::json;

// A token is renewed when less than this is left of it, as the guide says.
constexpr std::time_t kTokenMarginSeconds = 300;
// Bounds the lifetime in an answer, so that the sum with the present time cannot overflow.
constexpr std::time_t kTokenSecondsMax = 1'000'000'000;

// Only names the file, as Amazon's tools do; it protects nothing.
std::string sha1_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int bytes = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &bytes, EVP_sha1(), nullptr);
  return to_hex(std::as_bytes(std::span(digest)).first(bytes));
}

// Empty without a home folder.
std::string token_file(const std::string& login) {
  const std::string folder = in_home(".aws/sso/cache");
  return folder.empty() ? folder : folder + "/" + sha1_hex(login) + ".json";
}

class SignOnProvider : public CredentialProvider {
 public:
  explicit SignOnProvider(SignOn login)
      : login_(std::move(login)), file_(token_file(login_.login)) {}

  Result<CredentialStep> start(std::time_t now) override {
    is_renewing_ = false;
    const auto text = read_text_file(file_);
    // Without a token a person has to log in.
    if (!text.ok()) return log_in_again(text.status().message());
    token_ = Json::parse(*text, nullptr, false);
    if (!token_.is_object() || text_member(token_, "accessToken").empty())
      return log_in_again(file_ + " has no token");
    // Without a known end, a token could be used after it has expired.
    const auto end = parse_utc(text_member(token_, "expiresAt"));
    if (!end) return log_in_again(file_ + " does not say how long its token is valid");
    // Early enough that the renewed token is there before the old one expires.
    if (*end - now < kTokenMarginSeconds && can_renew(now)) return renewal();
    // It could not be renewed.
    if (*end <= now) return log_in_again("the login has expired");
    return role_request();
  }
  Result<CredentialStep> answer(const HttpResponse&, std::string_view body,
                                std::time_t now) override {
    if (is_renewing_) return keep_token(body, now);
    ECHOLINE_ASSIGN(Credentials credentials, parse_aws_sso(body));
    return CredentialStep(std::move(credentials));
  }
  // The body of a refusal is not shown: it may repeat a token.
  Status refuse(int status, std::string_view) const override {
    // These mean that the token is not accepted any more, so only a login helps.
    if (is_renewing_ ? status == 400 || status == 401 : status == 401)
      return log_in_again(fmt::format("it answered {}", status));
    return credential_refusal(status, "");
  }
  std::string what() const override {
    return fmt::format("{} for role {} of account {}", login_.portal, login_.role, login_.account);
  }

 private:
  Status log_in_again(std::string_view reason) const {
    return Status(Code::kPermissionDenied,
                  fmt::format("{}; log in with 'aws sso login' as the daemon's user", reason));
  }
  bool can_renew(std::time_t now) const {
    // The client's registration also expires; after that no token is issued.
    const auto registered = parse_utc(text_member(token_, "registrationExpiresAt"));
    return login_.renewable && registered && *registered > now &&
           !text_member(token_, "refreshToken").empty() &&
           !text_member(token_, "clientId").empty() && !text_member(token_, "clientSecret").empty();
  }
  CredentialStep renewal() {
    is_renewing_ = true;
    HttpRequest request;
    request.method = "POST";
    request.url = login_.oidc + "/token";
    request.headers = {{"content-type", "application/json"}};
    request.body = json_bytes({{"grantType", "refresh_token"},
                               {"clientId", text_member(token_, "clientId")},
                               {"clientSecret", text_member(token_, "clientSecret")},
                               {"refreshToken", text_member(token_, "refreshToken")}});
    return CredentialStep(std::move(request));
  }
  // The old refresh token may be used up now, so the file must have the new one, also for others.
  Result<CredentialStep> keep_token(std::string_view body, std::time_t now) {
    const Json answer = Json::parse(body, nullptr, false);
    const Json seconds = answer.is_object() ? answer.value("expiresIn", Json()) : Json();
    if (!seconds.is_number_integer() || text_member(answer, "accessToken").empty())
      return Status(Code::kUnavailable, "its answer is not understood");
    is_renewing_ = false;
    const auto lifetime =
        // Untrusted: negative and huge values are cut.
        std::clamp<std::int64_t>(seconds.get<std::int64_t>(), 0, kTokenSecondsMax);
    token_["accessToken"] = text_member(answer, "accessToken");
    token_["expiresAt"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now + lifetime));
    // A service may keep the old one valid, and then sends none.
    if (const std::string next = text_member(answer, "refreshToken"); !next.empty())
      token_["refreshToken"] = next;
    const Status kept = write_file_atomically(file_, json_bytes(token_), 0600);
    if (!kept.ok())
      // No error: this process has the new token.
      log_warning("source",
                  "the renewed login of AWS cannot be kept, so 'aws sso login' may be "
                  "needed soon: {}",
                  kept.message());
    return role_request();
  }
  Result<CredentialStep> role_request() const {
    const std::string token = text_member(token_, "accessToken");
    // A line break would start another header.
    if (token.find_first_of("\r\n") != std::string::npos) return log_in_again("no valid token");
    HttpRequest request;
    request.url = login_.portal +
                  escaped_target("/federation/credentials",
                                 {{"role_name", login_.role}, {"account_id", login_.account}});
    request.headers = {{"x-amz-sso_bearer_token", token}};
    return CredentialStep(std::move(request));
  }

  const SignOn login_;
  const std::string file_;
  Json token_;
  bool is_renewing_ = false;
};

}  // namespace

ProviderPtr sign_on_provider(SignOn login) {
  return std::make_unique<SignOnProvider>(std::move(login));
}

}  // namespace echoline::source
