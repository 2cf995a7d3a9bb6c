// Reads the files that AWS's tools share: ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::source {

using Settings = std::map<std::string, std::string>;

struct AwsFiles {
  std::string credentials;  // [name]
  std::string config;       // [profile name], [default]
};

// The settings of a [section]; a later line overrides an earlier one.
Settings parse_settings(std::string_view text, std::string_view section);

// The settings of a [sso-session name], which only the config file has. Empty if there is none.
Result<Settings> read_sso_session(const AwsFiles& files, const std::string& name);

// A profile's settings from both files; `credentials` wins. Empty if there is none. A missing file
// counts as an empty one.
Result<Settings> read_profile(const AwsFiles& files, const std::string& name);

}  // namespace echoline::source
