#include "source/credentials/aws_environment.h"

#include <fmt/core.h>

#include "source/credentials/aws_providers.h"
#include "source/credentials/environment.h"
#include "source/http/endpoint.h"

namespace echoline::source {
namespace {

Status wrong(std::string text) { return Status(Code::kPermissionDenied, std::move(text)); }

// AWS serves container credentials over plain http at these addresses only.
bool is_container_host(const Endpoint& endpoint) {
  return !endpoint.is_insecure() || endpoint.host == "169.254.170.2" ||
         endpoint.host == "169.254.170.23" || endpoint.host == "[fd00:ec2::23]";
}

}  // namespace

Result<std::optional<Credentials>> keys_of_environment() {
  Credentials credentials{from_environment("AWS_ACCESS_KEY_ID"),
                          from_environment("AWS_SECRET_ACCESS_KEY"),
                          from_environment("AWS_SESSION_TOKEN"), 0};
  // Nothing is set: not configured. One of two is a mistake.
  if (credentials.access_key.empty() && credentials.secret_key.empty())
    return std::optional<Credentials>();
  if (credentials.access_key.empty() || credentials.secret_key.empty())
    return wrong(fmt::format(
        "{} is not set; {}",
        credentials.access_key.empty() ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY", kAwsSetup));
  return std::optional(std::move(credentials));
}

Result<ProviderPtr> web_identity_of_environment(const std::string& region) {
  WebIdentity identity;
  identity.token_file = from_environment("AWS_WEB_IDENTITY_TOKEN_FILE");
  identity.role = from_environment("AWS_ROLE_ARN");
  identity.session = from_environment("AWS_ROLE_SESSION_NAME");
  // AWS needs a name; it appears in its logs only.
  if (identity.session.empty()) identity.session = kDefaultSession;
  // The file is what configures this method; the role alone does not.
  if (identity.token_file.empty()) return ProviderPtr();
  if (identity.role.empty())
    return wrong("AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
  ECHOLINE_ASSIGN(identity.endpoint, aws_endpoint("AWS_ENDPOINT_URL_STS", "sts", region));
  return web_identity_provider(std::move(identity));
}

Result<ProviderPtr> container_of_environment() {
  ContainerService service;
  service.url = from_environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  const std::string relative = from_environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  // The address of the agent that Amazon's containers have.
  if (!relative.empty()) service.url = "http://169.254.170.2" + relative;
  if (service.url.empty()) return ProviderPtr();
  ECHOLINE_ASSIGN(const Endpoint endpoint, endpoint_of_url(service.url));
  if (!is_container_host(endpoint))
    return wrong("AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor on this machine");
  service.token_file = from_environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  service.token = from_environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  return container_provider(std::move(service));
}

Result<ProviderPtr> instance_of_environment(const std::string& hint) {
  // Set by users whose machine has no metadata service, to save the waiting time.
  if (from_environment("AWS_EC2_METADATA_DISABLED") == "true") return ProviderPtr();
  std::string endpoint = from_environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (endpoint.empty())
    endpoint = from_environment("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE") == "IPv6"
                   ? "http://[fd00:ec2::254]"
                   : "http://169.254.169.254";
  ECHOLINE_ASSIGN(const Endpoint parsed, parse_endpoint(endpoint));
  return instance_provider(parsed.url(), hint);
}

}  // namespace echoline::source
