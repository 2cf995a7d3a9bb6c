// The steps are: read the text, parse YAML, fill the message, apply overrides, fill in defaults,
// check the structure. The first error ends them.
#include "config/load.h"

#include <fmt/core.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/sanitize_name.h"
#include "config/complete.h"
#include "config/control.h"
#include "config/document.h"
#include "config/maps.h"
#include "config/names.h"
#include "config/override.h"
#include "config/paths.h"
#include "config/preparation.h"
#include "config/reader.h"
#include "config/source_locations.h"
#include "config/structure.h"

namespace echoline::config {
namespace {

Result<std::string> read_text(const std::string& path) {
  // Streams set errno only on failure.
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const Status status = errno_status(errno == 0 ? ENOENT : errno, path);
    return Status(status.code(),
                  fmt::format("configuration: {}; {}", status.message(),
                              errno == EACCES ? "let this user read it" : "check the path"));
  }
  // One byte more than allowed: parse_yaml then refuses the text.
  std::string text(kTextBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  // A folder can be opened, but not read.
  if (file.bad() || (!file && !file.eof())) {
    return Status(Code::kInvalidArgument,
                  fmt::format("configuration: {}: cannot be read; is it a file?", path));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

Status check_metrics_address(const v1::Daemon& daemon, const SourceLocations& locations) {
  const std::string& address = daemon.metrics();
  if (address == "auto" || address == "off" || is_address(address)) return Status();
  return locations.error(
      daemon, "metrics",
      fmt::format("'{}' is no address; allowed: host:port, as 127.0.0.1:9464, auto, or off",
                  address));
}

// After complete(): all values are in their ranges.
Status check_streams(v1::Config& config, const SourceLocations& locations) {
  return for_each_map_value(config, [&](const std::string& name, google::protobuf::Message& value) {
    const Status named = check_stream_name(name);
    // The key of the mapping is the name.
    if (!named.ok()) return key_error(locations.where(value, 0), name, named.message());
    return check_structure(dynamic_cast<v1::Stream&>(value), locations);
  });
}

void fill_folders(v1::Daemon& daemon) {
  if (daemon.runtime_dir().empty()) daemon.set_runtime_dir(default_runtime_dir());
  if (daemon.state_dir().empty()) daemon.set_state_dir(default_state_dir());
}

Result<LocatedConfig> parse_located(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& overrides,
                                    const v1::Daemon& defaults = {}) {
  ECHOLINE_ASSIGN(const YAML::Node root, parse_yaml(text, name));
  LocatedConfig located{std::make_unique<v1::Config>(), SourceLocations(name)};
  v1::Config& config = *located.config;
  // The reader replaces what the text has.
  *config.mutable_daemon() = defaults;
  SourceLocations& locations = located.locations;
  try {
    ECHOLINE_TRY(Reader(name, true, locations).read_message(root, config));
    // In their order: a later override wins. Before the defaults, which fill only what is missing.
    for (const std::string& one : overrides) ECHOLINE_TRY(apply_override(one, config, locations));
    // yaml-cpp throws for some conversions; the reader catches none.
  } catch (const YAML::Exception& error) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: not readable as YAML: {}", name, error.msg));
  }
  ECHOLINE_TRY(complete(config, locations));
  ECHOLINE_TRY(check_metrics_address(config.daemon(), locations));
  ECHOLINE_TRY(check_control(config.daemon().control(), locations));
  if (config.daemon().has_etcd()) ECHOLINE_TRY(check_etcd(config.daemon().etcd(), locations));
  ECHOLINE_TRY(check_streams(config, locations));
  ECHOLINE_TRY(check_serve(config, locations));
  // Last: the defaults depend on the environment, and no check needs them.
  fill_folders(*config.mutable_daemon());
  return located;
}

}  // namespace

Status check_stream_name(std::string_view name) {
  if (is_plain_name(name)) return Status();
  return Status(Code::kInvalidArgument, fmt::format("is no stream name; {}", kPlainNames));
}

Result<v1::Config> parse_config(std::string_view text, const std::string& name,
                                const std::vector<std::string>& overrides) {
  ECHOLINE_ASSIGN(const LocatedConfig located, parse_located(text, name, overrides));
  return std::move(*located.config);
}

Result<v1::Config> load_config_file(const std::string& path,
                                    const std::vector<std::string>& overrides) {
  ECHOLINE_ASSIGN(const LocatedConfig located, load_located_config_file(path, overrides));
  return std::move(*located.config);
}

Result<LocatedConfig> load_located_config_file(const std::string& path,
                                               const std::vector<std::string>& overrides,
                                               const v1::Daemon& defaults) {
  ECHOLINE_ASSIGN(const std::string text, read_text(path));
  return parse_located(text, path, overrides, defaults);
}

Status complete_stream(const std::string& name, v1::Stream& stream) {
  if (Status named = check_stream_name(name); !named.ok()) {
    return std::move(named).with_context("stream '" + sanitize_name(name) + "'");
  }
  // No text: errors name the stream.
  const SourceLocations locations("stream '" + name + "'");
  ECHOLINE_TRY(complete(stream, locations));
  return check_structure(stream, locations);
}

}  // namespace echoline::config
