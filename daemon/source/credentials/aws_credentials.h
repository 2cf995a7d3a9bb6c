// Which of AWS's ways to credentials is taken: the first that is set up, in the order of AWS's own
// tools.
#pragma once

#include <memory>

#include "source/credentials/credential_options.h"
#include "source/credentials/credential_source.h"

namespace echoline::source {

// Environment, profile, web identity, container, instance; or the one that options.from names.
// kPermissionDenied says what to set. Nothing is asked of the network yet.
Result<std::shared_ptr<CredentialSource>> aws_credentials(const CredentialOptions& options);

// What the profile says of a setting, as "region"; empty if it doesn't.
std::string aws_profile_setting(const CredentialOptions& options, const std::string& name);

}  // namespace echoline::source
