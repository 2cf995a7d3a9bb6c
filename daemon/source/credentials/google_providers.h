// Providers of Google access tokens. The forms of key files are those of Google's AIP-4110 to
// AIP-4117 (google.aip.dev/auth), which its own libraries follow.
#pragma once

#include <memory>
#include <string>

#include "source/core/access.h"
#include "source/credentials/credential_provider.h"

namespace echoline::source {

// A key file of a service account (type service_account), of a user login (authorized_user), whose
// tokens have the scope of that login, of another identity provider (external_account), or of a
// service account that one of the first two impersonates (impersonated_service_account). The file
// is read again for each renewal. `may_run`: it may name a program. kInvalidArgument if it is of
// another type or cannot be read.
Result<ProviderPtr> key_file_provider(const std::string& path, Access access, bool may_run);

// The metadata server of Compute Engine, Kubernetes Engine and Cloud Run. `hint` ends messages:
// what else could be configured.
ProviderPtr metadata_provider(std::string host, std::string hint, Access access);

}  // namespace echoline::source
