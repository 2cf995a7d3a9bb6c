// Signed JSON web tokens (JWT, RS256) that authenticate a service account.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::source {

// RFC 4648, with padding.
std::string base64(std::string_view bytes);

// RFC 4648's URL alphabet, without padding.
std::string base64url(std::string_view bytes);

// Signs header and claims (JSON) with a private key in PEM. kInvalidArgument, without a byte of the
// key, if it is not an RSA key.
Result<std::string> signed_jwt(std::string_view header, std::string_view claims,
                               const std::string& private_key_pem);

}  // namespace echoline::source
