// How a `read` step configures its credentials.
#pragma once

#include <string>

#include "source/core/access.h"

namespace echoline::source {

struct CredentialOptions {
  Access access = Access::kRead;  // the scope of Google's tokens; AWS keys have none
  std::string from = "auto";      // as read.credentials
  std::string file;     // AWS's profiles, Google's key file or the Hub's token; empty for the
                        // default paths
  std::string profile;  // AWS's; empty for AWS_PROFILE, else "default"
  std::string region;   // of AWS's token service
  std::string ca_file;
};

}  // namespace echoline::source
