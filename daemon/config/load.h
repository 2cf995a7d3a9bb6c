// From a YAML file to a checked configuration with every default filled in.
// Pure functions but for reading the file; any thread may call them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Reads, checks and completes a configuration. `overrides` are "daemon.workers=4": a dotted path
// and a value in YAML. An error is one line "FILE:LINE:COL: key 'shufle': what is wrong; what is
// allowed" (kInvalidArgument), with the nearest known name where there is one.
Result<v1::Config> load_config_file(const std::string& path,
                                    const std::vector<std::string>& overrides = {});
// The same for a text; `name` stands in the errors.
Result<v1::Config> parse_config(std::string_view text, const std::string& name,
                                const std::vector<std::string>& overrides = {});

// A configuration and where its values stood, for errors that are found later.
struct LocatedConfig {
  std::unique_ptr<v1::Config>
      config;  // not moved: `locations` knows its messages by their addresses
  SourceLocations locations;
};
Result<LocatedConfig> load_located_config_file(const std::string& path,
                                               const std::vector<std::string>& overrides = {});

// Checks a stream that came as a message (over the control socket) and fills in its defaults.
Status complete_stream(const std::string& name, v1::Stream& stream);

// Names of streams stand in addresses, metrics and file names: letters, digits, ".", "_" and "-",
// beginning with a letter or digit, at most 64.
Status check_stream_name(std::string_view name);

}  // namespace echoline::config
