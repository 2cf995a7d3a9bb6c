// Chooses Google credentials, in the order of Google's Application Default Credentials.
#pragma once

#include <memory>

#include "source/credentials/credential_options.h"
#include "source/credentials/credential_source.h"

namespace echoline::source {

// In order: GOOGLE_APPLICATION_CREDENTIALS, the file that gcloud keeps, the metadata server; or the
// one that options.from names. Sends no request. kPermissionDenied says what to set.
Result<std::shared_ptr<CredentialSource>> google_credentials(const CredentialOptions& options);

}  // namespace echoline::source
