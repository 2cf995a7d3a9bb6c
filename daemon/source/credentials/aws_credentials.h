// Chooses AWS credentials: the first method that is configured, in the order of AWS's own tools.
#pragma once

#include <memory>

#include "source/credentials/credential_options.h"
#include "source/credentials/credential_source.h"

namespace echoline::source {

// In order: environment, profile, web identity, container, instance; or the one that options.from
// names. Sends no request. kPermissionDenied says what to set.
Result<std::shared_ptr<CredentialSource>> aws_credentials(const CredentialOptions& options);

// A setting of the profile, such as "region"; empty if it has none.
std::string aws_profile_setting(const CredentialOptions& options, const std::string& name);

}  // namespace echoline::source
