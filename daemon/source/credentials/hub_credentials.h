// Chooses the token for the Hugging Face Hub, as Hugging Face's own tools do.
#pragma once

#include <memory>

#include "source/credentials/credential_options.h"
#include "source/credentials/credential_source.h"

namespace echoline::source {

// In order: the file of the `read` step, HF_TOKEN, the file of HF_TOKEN_PATH, the file that
// `hf auth login` writes; or the one that options.from names. Without any, anonymous: most data
// sets are public. A file is read again when its token is refused. Sends no request.
// kPermissionDenied says what to set.
Result<std::shared_ptr<CredentialSource>> hub_credentials(const CredentialOptions& options);

}  // namespace echoline::source
