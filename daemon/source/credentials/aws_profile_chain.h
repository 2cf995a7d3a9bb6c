// From a profile to the provider of its credentials.
#pragma once

#include <string>

#include "source/credentials/aws_profile.h"
#include "source/credentials/credential_provider.h"

namespace echoline::source {

struct AwsProfiles {
  AwsFiles files;
  std::string region;  // of STS
  // Who may create a stream may name any credentials file, but not run programs as the daemon's
  // user. So a credential_process must be in a file that the daemon's environment names.
  bool credentials_file_may_run = true;
};

// The way to credentials that the profile describes, of several ways the first in the order of the
// AWS CLI: a role (role_arn), a web identity, IAM Identity Center (sso_...), keys in the
// credentials file, a program (credential_process), keys in the config file. A role takes its base
// from source_profile, which may name a role again, or credential_source. Null if the profile has
// none; kPermissionDenied says what is wrong. Sends no request.
Result<ProviderPtr> profile_provider(const AwsProfiles& profiles, const std::string& name);

}  // namespace echoline::source
