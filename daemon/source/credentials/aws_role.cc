// "AWS SDKs and Tools Reference Guide", assume role credential provider: AssumeRole of STS, signed
// with the credentials of another profile or provider.
#include <fmt/core.h>

#include "source/credentials/aws_providers.h"
#include "source/credentials/aws_sign.h"
#include "source/credentials/credential_answer.h"
#include "source/credentials/exchange_provider.h"
#include "source/http/endpoint.h"

namespace echoline::source {
namespace {

constexpr const char* kAction = "AssumeRole";

class RoleProvider : public ExchangeProvider {
 public:
  RoleProvider(AssumedRole role, ProviderPtr base)
      : ExchangeProvider(std::move(base)), role_(std::move(role)) {}

  std::string what() const override {
    return fmt::format("{} for role {} by {}", role_.endpoint, role_.role, base_name());
  }

 protected:
  Result<HttpRequest> request(const Credentials& base, std::time_t now) const override {
    NamedValues form = {{"Action", kAction},
                        {"Version", "2011-06-15"},
                        {"RoleArn", role_.role},
                        {"RoleSessionName", role_.session}};
    // Optional in the request, as in the profile.
    if (!role_.external_id.empty()) form.emplace_back("ExternalId", role_.external_id);
    if (!role_.duration_seconds.empty())
      form.emplace_back("DurationSeconds", role_.duration_seconds);
    ECHOLINE_ASSIGN(const Endpoint endpoint, parse_endpoint(role_.endpoint));
    HttpRequest request;
    request.method = "POST";
    request.url = role_.endpoint + "/";
    request.body = escaped_query(form);
    // Signed by the keys of the base.
    SignRequest sign;
    sign.method = request.method;
    sign.host = endpoint.host;
    // STS has one path; the action is in the form.
    sign.path = "/";
    sign.headers = {{"content-type", "application/x-www-form-urlencoded"}};
    sign.payload_sha256 = sha256_hex(request.body);
    sign.region = role_.region;
    sign.service = "sts";
    request.headers = signed_headers(sign, base, now);
    return request;
  }
  Result<Credentials> exchanged(std::string_view body, std::time_t) const override {
    return parse_aws_sts(body, kAction);
  }
  Status refusal(int status, std::string_view body) const override {
    return credential_refusal(status, aws_sts_error(body));
  }

 private:
  const AssumedRole role_;
};

}  // namespace

ProviderPtr role_provider(AssumedRole role, ProviderPtr base) {
  return std::make_unique<RoleProvider>(std::move(role), std::move(base));
}

}  // namespace echoline::source
