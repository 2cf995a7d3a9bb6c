// AWS credentials that the process's environment describes.
#pragma once

#include <optional>
#include <string>

#include "source/credentials/credential_provider.h"
#include "source/credentials/credentials.h"

namespace echoline::source {

// What to do without credentials, for messages.
inline constexpr std::string_view kAwsSetup =
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in ~/.aws/credentials, or "
    "`credentials: anonymous` for a public bucket";

inline constexpr const char* kAwsVariables =
    "the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN)";

// Each is empty, or null, if it is not configured. kPermissionDenied if it is wrong.
Result<std::optional<Credentials>> keys_of_environment();
// AWS_WEB_IDENTITY_TOKEN_FILE; `region` is that of STS.
Result<ProviderPtr> web_identity_of_environment(const std::string& region);
Result<ProviderPtr> container_of_environment();
// `hint` as in instance_provider.
Result<ProviderPtr> instance_of_environment(const std::string& hint);

}  // namespace echoline::source
