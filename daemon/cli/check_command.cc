// `echoline check`: checks the configuration, then the TLS files and the data that it names, as far
// as that is cheap. Every error begins with a location in the file.
#include <fmt/core.h>

#include "base/log.h"
#include "base/sanitize_name.h"
#include "cli/checked_text.h"
#include "cli/commands.h"
#include "config/error_location.h"
#include "config/load.h"
#include "config/values.h"
#include "serve/control/tls_files.h"

namespace echoline::cli {
namespace {

// Loads them as the daemon does at its start.
template <typename Block>
Status check_tls_files(const Block& block) {
  return serve::load_tls(serve::tls_paths(block)).status();
}

Status check_tls_files(const v1::Daemon& daemon) {
  if (!daemon.control().listen().empty()) ECHOLINE_TRY(check_tls_files(daemon.control()));
  if (!daemon.serve().listen().empty()) ECHOLINE_TRY(check_tls_files(daemon.serve()));
  return check_tls_files(daemon.etcd());
}

Result<CheckedStreams> check_streams(const v1::Config& config, bool offline) {
  CheckedStreams all;
  for (const auto& [name, stream] : config.streams()) {
    Checked& checked = all[name];
    checked.stream = &stream;
    if (offline) continue;
    Result<Checked> seen = check_stream(name, stream, config.daemon());
    if (!seen.ok()) return seen.status().with_context("stream '" + name + "'");
    checked = *seen;
  }
  return all;
}

Status check_budget(const config::LocatedConfig& located, std::uint64_t needed) {
  const v1::Daemon& daemon = located.config->daemon();
  if (needed <= daemon.memory()) return Status();
  return located.locations.error(
      daemon, "memory",
      fmt::format("the streams need {}, daemon.memory is {}; raise it, or lower publish.slots, "
                  "batch.size, echo.window, cache.memory or read.read_ahead",
                  config::format_bytes(needed), config::format_bytes(daemon.memory())));
}

}  // namespace

Status check(const CheckOptions& options) {
  ECHOLINE_ASSIGN(const config::LocatedConfig located,
                  config::load_located_config_file(options.file, options.overrides));
  set_log_level(LogLevel::kWarning);
  const v1::Config& config = *located.config;
  const v1::Daemon& daemon = config.daemon();
  if (!options.offline) {
    ECHOLINE_TRY(config::at_location(check_tls_files(daemon), config, located.locations));
  }
  const Result<CheckedStreams> seen = check_streams(config, options.offline);
  ECHOLINE_TRY(config::at_location(seen.status(), config, located.locations));
  const CheckedStreams& all = *seen;
  ECHOLINE_TRY(check_budget(located, total_bytes(all)));
  fmt::print("{}", options.json ? checked_json(daemon, all)
                                : sanitize_output(checked_text(options.file, daemon, all)));
  return Status();
}

}  // namespace echoline::cli
