// A parsed key file of Google, and the providers of its types.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "source/core/access.h"
#include "source/credentials/credential_provider.h"
#include "source/credentials/json_members.h"
#include "source/http/escape.h"

namespace echoline::source {

struct GoogleKey {
  std::string path;  // for messages
  nlohmann::json json;
  std::string scope;     // that tokens are wanted for
  bool may_run = false;  // programs: the daemon's environment names the file, not a `read` step

  std::string type() const { return text("type"); }
  // A text member; empty if there is none. Members are checked when they are used.
  std::string text(const char* name) const { return text_member(json, name); }
  // A member that is an object; an empty one if there is none.
  nlohmann::json object(const char* name) const;

  Status wrong(std::string_view text) const;
};

inline constexpr const char* kGoogleCloudScope = "https://www.googleapis.com/auth/cloud-platform";

// A POST of a form. kPermissionDenied if the address is plain http to another machine; `name` is
// that of the setting.
Result<HttpRequest> google_form(const char* name, const std::string& url, const NamedValues& form);

// AIP-4117: the token of another identity provider, which Google's token service exchanges.
Result<ProviderPtr> external_account_provider(GoogleKey key);

// The token of `base` is exchanged for one of the service account in the key's
// service_account_impersonation_url.
Result<ProviderPtr> impersonation_provider(GoogleKey key, ProviderPtr base);

}  // namespace echoline::source
