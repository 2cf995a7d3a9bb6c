// Where Google hands out access tokens.
#pragma once

#include <memory>
#include <string>

#include "source/core/access.h"
#include "source/credentials/credential_source.h"

namespace echoline::source {

// A key file: of a service account (type service_account), or of a person who has logged in
// (authorized_user), whose tokens are good for whatever the login was. Read anew for each renewal.
// kInvalidArgument if it is neither or can't be read.
Result<std::unique_ptr<CredentialRecipe>> key_file_recipe(const std::string& path, Access access);

// The metadata server of Compute Engine, Kubernetes Engine and Cloud Run. `hint` says in messages
// what else could have been set.
std::unique_ptr<CredentialRecipe> metadata_recipe(std::string host, std::string hint,
                                                  Access access);

}  // namespace echoline::source
