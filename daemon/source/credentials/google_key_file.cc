#include "source/credentials/google_key_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "source/credentials/credential_answer.h"
#include "source/credentials/exchange_provider.h"
#include "source/http/endpoint.h"

namespace echoline::source {
namespace {

// RFC 3339 durations of Google's interface: "3600s".
// Google's default; the longest time needs a setting of the organization.
constexpr std::int64_t kLifetimeSeconds = 3600;
constexpr std::int64_t kLifetimeSecondsMax = 43200;

// Google's method projects.serviceAccounts.generateAccessToken.
class ImpersonationProvider : public ExchangeProvider {
 public:
  ImpersonationProvider(GoogleKey key, ProviderPtr base)
      : ExchangeProvider(std::move(base)), key_(std::move(key)) {}

  std::string what() const override {
    return fmt::format("{}, as the service account in its service_account_impersonation_url",
                       base_name());
  }

 protected:
  Result<HttpRequest> request(const Credentials& base, std::time_t) const override {
    const nlohmann::json options = key_.object("service_account_impersonation");
    const nlohmann::json wanted = options.value("token_lifetime_seconds", nlohmann::json());
    // A setting outside of the limits is cut to them.
    const std::int64_t seconds =
        wanted.is_number_integer()
            ? std::clamp<std::int64_t>(wanted.get<std::int64_t>(), 1, kLifetimeSecondsMax)
            : kLifetimeSeconds;
    nlohmann::json body = {{"scope", nlohmann::json::array({key_.scope})},
                           {"lifetime", fmt::format("{}s", seconds)}};
    // Accounts in between, from the key file as they are.
    if (const auto found = key_.json.find("delegates"); found != key_.json.end())
      body["delegates"] = *found;
    HttpRequest request;
    request.method = "POST";
    request.url = key_.text("service_account_impersonation_url");
    request.headers = {{"content-type", "application/json"},
                       {"authorization", "Bearer " + base.token}};
    request.body = json_bytes(body);
    return request;
  }
  Result<Credentials> exchanged(std::string_view body, std::time_t) const override {
    return parse_google_impersonation(body);
  }
  Status refusal(int status, std::string_view) const override {
    // The answer's text is not shown: it may name accounts. 403 has one usual cause.
    return credential_refusal(status, status == 403
                                          ? "may it impersonate? It needs the role Service "
                                            "Account Token Creator, or Workload Identity User"
                                          : "");
  }

 private:
  const GoogleKey key_;
};

}  // namespace

nlohmann::json GoogleKey::object(const char* name) const {
  // A member of another type counts as missing.
  const auto found = json.find(name);
  return found != json.end() && found->is_object() ? *found : nlohmann::json::object();
}

Status GoogleKey::wrong(std::string_view text) const {
  return Status(Code::kInvalidArgument, fmt::format("{} {}", path, text));
}

Result<HttpRequest> google_form(const char* name, const std::string& url, const NamedValues& form) {
  // Tokens and secrets are sent to this address.
  ECHOLINE_ASSIGN(const Endpoint endpoint, endpoint_of_url(url));
  if (endpoint.is_insecure())
    return Status(Code::kPermissionDenied,
                  fmt::format("its {} could be overheard; use https", name));
  HttpRequest request;
  request.method = "POST";
  request.url = url;
  request.headers = {{"content-type", "application/x-www-form-urlencoded"}};
  request.body = escaped_query(form);
  return request;
}

Result<ProviderPtr> impersonation_provider(GoogleKey key, ProviderPtr base) {
  const char* kName = "service_account_impersonation_url";
  // Only the address is checked here; the request is made later.
  ECHOLINE_TRY(google_form(kName, key.text(kName), {}).status());
  return ProviderPtr(std::make_unique<ImpersonationProvider>(std::move(key), std::move(base)));
}

}  // namespace echoline::source
