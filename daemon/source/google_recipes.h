// Where Google hands out access tokens.
#pragma once

#include <memory>
#include <string>

#include "source/credential_source.h"

namespace echoline::source {

// A key file: of a service account (type service_account), or of a person who has logged in
// (authorized_user). Read anew for each renewal. kInvalidArgument if it is neither or can't be
// read.
Result<std::unique_ptr<CredentialRecipe>> key_file_recipe(const std::string& path);

// The metadata server of Compute Engine, Kubernetes Engine and Cloud Run. `hint` says in messages
// what else could have been set.
std::unique_ptr<CredentialRecipe> metadata_recipe(std::string host, std::string hint);

}  // namespace echoline::source
