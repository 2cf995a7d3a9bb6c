// Which of Google's ways to credentials is taken, in the order of its Application Default
// Credentials.
#pragma once

#include <memory>

#include "source/credentials/credential_options.h"
#include "source/credentials/credential_source.h"

namespace echoline::source {

// GOOGLE_APPLICATION_CREDENTIALS, the file that gcloud keeps, the metadata server; or the one that
// options.from names. kPermissionDenied says what to set. Nothing is asked of the network yet.
Result<std::shared_ptr<CredentialSource>> google_credentials(const CredentialOptions& options);

}  // namespace echoline::source
