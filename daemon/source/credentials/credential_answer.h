// Parses answers of credential services. They are untrusted bytes from the network, and no error
// message repeats them.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "source/credentials/credentials.h"

namespace echoline::source {

// "2026-11-21T12:00:00Z", also with a fraction of a second or with an offset, "+01:00".
std::optional<std::time_t> parse_utc(std::string_view text);

// {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"}: the answer of container and instance
// services.
Result<Credentials> parse_aws_json(std::string_view body);

// The same with "SessionToken" and "Version": 1, from a credential_process.
Result<Credentials> parse_aws_process(std::string_view output);

// {"roleCredentials": {"accessKeyId", ...}}, with the expiration in milliseconds: of AWS's sign-on.
Result<Credentials> parse_aws_sso(std::string_view body);

// The answer of STS to an action such as AssumeRole.
Result<Credentials> parse_aws_sts(std::string_view xml, const std::string& action);

// The error code in an answer of STS; empty if there is none. Its message may repeat a token.
std::string aws_sts_error(std::string_view xml);

// {"accessToken", "expireTime"}: of Google's impersonation of a service account.
Result<Credentials> parse_google_impersonation(std::string_view body);

// {"access_token", "expires_in"}: of OAuth and of Google's metadata server.
Result<Credentials> parse_oauth(std::string_view body, std::time_t now);

// The error for an answer other than 2xx: kUnavailable if a retry may help, else kPermissionDenied.
// `reason` is the service's error code, if it sends one.
Status credential_refusal(int status, std::string_view reason);

// A text member of a JSON object; empty if there is none.
std::string json_text(std::string_view json, const char* name);

}  // namespace echoline::source
