// Loads a YAML file into a checked configuration with all defaults filled in. Any thread may call
// these functions; the only side effect is reading the file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Reads, checks and completes a configuration. `overrides` have the form "daemon.workers=4": a
// dotted path and a value in YAML. An error (kInvalidArgument) is one line "FILE:LINE:COL: key
// 'shufle': what is wrong; what is allowed", with the most similar known name if there is one.
Result<v1::Config> load_config_file(const std::string& path,
                                    const std::vector<std::string>& overrides = {});
// The same for a text; `name` is used in errors.
Result<v1::Config> parse_config(std::string_view text, const std::string& name,
                                const std::vector<std::string>& overrides = {});

// A configuration and the locations of its values, for errors of later checks. `defaults` has
// values of the daemon that the file may replace.
struct LocatedConfig {
  std::unique_ptr<v1::Config>
      config;  // on the heap, because `locations` refers to its messages by address
  SourceLocations locations;
};
Result<LocatedConfig> load_located_config_file(const std::string& path,
                                               const std::vector<std::string>& overrides = {},
                                               const v1::Daemon& defaults = {});

// Checks a stream that arrived as a message (over the control socket) and fills in its defaults.
Status complete_stream(const std::string& name, v1::Stream& stream);

// Stream names are used in addresses, metrics and file names, so they consist of at most 64
// letters, digits, ".", "_" and "-" and begin with a letter or a digit.
Status check_stream_name(std::string_view name);

}  // namespace echoline::config
