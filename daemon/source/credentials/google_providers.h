// Providers of Google access tokens.
#pragma once

#include <memory>
#include <string>

#include "source/core/access.h"
#include "source/credentials/credential_source.h"

namespace echoline::source {

// A key file of a service account (type service_account), or of a user login (authorized_user),
// whose tokens have the scope of that login. The file is read again for each renewal.
// kInvalidArgument if it is neither or cannot be read.
Result<std::unique_ptr<CredentialProvider>> key_file_provider(const std::string& path,
                                                              Access access);

// The metadata server of Compute Engine, Kubernetes Engine and Cloud Run. `hint` ends messages:
// what else could be configured.
std::unique_ptr<CredentialProvider> metadata_provider(std::string host, std::string hint,
                                                      Access access);

}  // namespace echoline::source
