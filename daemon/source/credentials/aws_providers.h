// Providers of AWS credentials. The names of settings, files and requests are those of Amazon's
// "AWS SDKs and Tools Reference Guide", which its own SDKs and the AWS CLI follow.
#pragma once

#include <cstdint>
#include <string>

#include "source/credentials/aws_profile.h"
#include "source/credentials/credential_provider.h"

namespace echoline::source {

// The address of one of AWS's services: that of the environment variable (AWS_ENDPOINT_URL_STS,
// else AWS_ENDPOINT_URL), else https://PREFIX.REGION.amazonaws.com. kPermissionDenied for plain
// http to another machine, because secrets are sent there.
Result<std::string> aws_endpoint(const char* variable, const char* prefix,
                                 const std::string& region);

// Keys that are known already; `origin` is for messages.
ProviderPtr fixed_provider(Credentials credentials, std::string origin);

// The name of a session in AWS's logs where nothing else is set.
inline constexpr const char* kDefaultSession = "echoline";

struct WebIdentity {
  std::string endpoint;    // of STS: https://host
  std::string role;        // its ARN
  std::string session;     // name of the session in AWS's logs
  std::string token_file;  // read again for each renewal
};
ProviderPtr web_identity_provider(WebIdentity identity);

struct AssumedRole {
  std::string endpoint;  // of STS: https://host
  std::string region;    // for the signature
  std::string role;      // its ARN
  std::string session;
  std::string external_id;       // empty for none
  std::string duration_seconds;  // empty for AWS's default, one hour
};
// A role that the owner of other credentials assumes.
ProviderPtr role_provider(AssumedRole role, ProviderPtr base);

struct SignOn {
  std::string portal;  // https://host
  std::string oidc;    // https://host
  std::string login;   // the name of the sso-session, else the start URL: names the cached token
  bool renewable = false;  // an sso-session: its token can be renewed without a person
  std::string account;
  std::string role;
};
// IAM Identity Center (single sign-on): the token that `aws sso login` keeps in ~/.aws/sso/cache.
// A token of an sso-session is renewed, and kept there, as Amazon's tools do.
ProviderPtr sign_on_provider(SignOn login);

// The output of a program. kInvalidArgument if its command line is wrong. `origin` is for messages:
// the command line could contain a secret.
Result<ProviderPtr> process_provider(std::string_view command_line, std::string origin);

struct ContainerService {
  std::string url;
  std::string token;       // sent as Authorization; empty for none
  std::string token_file;  // or a file with it, read for each renewal
};
ProviderPtr container_provider(ContainerService service);

// The instance metadata service (IMDSv2). `hint` ends messages: what else could be configured.
ProviderPtr instance_provider(std::string endpoint, std::string hint);

}  // namespace echoline::source
