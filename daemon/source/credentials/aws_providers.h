// Providers of AWS credentials.
#pragma once

#include <memory>
#include <string>

#include "source/credentials/aws_profile.h"
#include "source/credentials/credential_source.h"

namespace echoline::source {

// Keys in a profile; read again after a store says that they have expired.
std::unique_ptr<CredentialProvider> profile_provider(AwsFiles files, std::string name);

struct WebIdentity {
  std::string endpoint;    // of STS: https://host
  std::string role;        // its ARN
  std::string session;     // name of the session in AWS's logs
  std::string token_file;  // read again for each renewal
};
std::unique_ptr<CredentialProvider> web_identity_provider(WebIdentity identity);

struct ContainerService {
  std::string url;
  std::string token;       // sent as Authorization; empty for none
  std::string token_file;  // or a file with it, read for each renewal
};
std::unique_ptr<CredentialProvider> container_provider(ContainerService service);

// The instance metadata service (IMDSv2). `hint` ends messages: what else could be configured.
std::unique_ptr<CredentialProvider> instance_provider(std::string endpoint, std::string hint);

}  // namespace echoline::source
