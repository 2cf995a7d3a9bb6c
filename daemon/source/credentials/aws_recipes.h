// Where AWS hands out credentials.
#pragma once

#include <memory>
#include <string>

#include "source/credentials/aws_profile.h"
#include "source/credentials/credential_source.h"

namespace echoline::source {

// Keys in a profile; read again when a store says that they have expired.
std::unique_ptr<CredentialRecipe> profile_recipe(AwsFiles files, std::string name);

struct WebIdentity {
  std::string endpoint;    // of STS: https://host
  std::string role;        // its ARN
  std::string session;     // name of the session in AWS's logs
  std::string token_file;  // read anew for each renewal
};
std::unique_ptr<CredentialRecipe> web_identity_recipe(WebIdentity identity);

struct ContainerService {
  std::string url;
  std::string token;       // sent as Authorization; empty for none
  std::string token_file;  // the same from a file, which is read for each renewal
};
std::unique_ptr<CredentialRecipe> container_recipe(ContainerService service);

// IMDSv2. `hint` says in messages what else could have been set.
std::unique_ptr<CredentialRecipe> instance_recipe(std::string endpoint, std::string hint);

}  // namespace echoline::source
