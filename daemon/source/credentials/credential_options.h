// How a `read` step says where its credentials are.
#pragma once

#include <string>

#include "source/core/access.h"

namespace echoline::source {

struct CredentialOptions {
  Access access =
      Access::kRead;          // what Google's tokens are asked for; AWS's keys know no such thing
  std::string from = "auto";  // as read.credentials
  std::string file;           // of AWS's profiles, or Google's key file; empty for the usual places
  std::string profile;        // AWS's; empty for AWS_PROFILE, else "default"
  std::string region;         // of AWS's token service
  std::string ca_file;
};

}  // namespace echoline::source
