#include "cli/control_channel.h"

#include <fmt/core.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <cstdlib>
#include <tuple>

#include "base/bounded_file.h"
#include "cli/connectivity_check.h"
#include "cli/control_client.h"
#include "cli/running_daemons.h"
#include "config/control.h"

namespace echoline::cli {
namespace {

constexpr std::size_t kPemBytesMax = 1 << 20;

std::string given_or(const std::string& given, const char* variable) {
  const char* const value = std::getenv(variable);
  return given.empty() && value != nullptr ? value : given;
}

// The options with missing values from the environment. --runtime-dir has precedence over
// ECHOLINE_ADDRESS, so that it can select this host's daemon.
DaemonOptions completed(DaemonOptions daemon) {
  if (daemon.runtime_dir.empty()) daemon.address = given_or(daemon.address, "ECHOLINE_ADDRESS");
  if (daemon.address.empty()) {
    daemon.runtime_dir = runtime_dir_of(daemon.runtime_dir);
    return daemon;
  }
  daemon.tls_ca = given_or(daemon.tls_ca, "ECHOLINE_TLS_CA");
  daemon.tls_cert = given_or(daemon.tls_cert, "ECHOLINE_TLS_CERT");
  daemon.tls_key = given_or(daemon.tls_key, "ECHOLINE_TLS_KEY");
  return daemon;
}

Result<std::string> read_pem(const char* option, const std::string& path) {
  Result<std::string> text = read_bounded_file(path, kPemBytesMax);
  if (text.ok()) return text;
  return text.status().with_context(option);
}

std::string socket_of(const DaemonOptions& daemon) { return daemon.runtime_dir + "/control.sock"; }

// For users of a command that does not say which daemon it means.
std::string other_daemons(const DaemonOptions& daemon) {
  const bool is_usual = daemon.address.empty() && daemon.runtime_dir == runtime_dir_of("");
  return is_usual ? private_daemons_text(daemon.runtime_dir) : "";
}

}  // namespace

std::string daemon_misuse(const DaemonOptions& given) {
  const DaemonOptions daemon = completed(given);
  if (daemon.address.empty()) {
    const bool has_tls = !given.tls_ca.empty() || !given.tls_cert.empty() || !given.tls_key.empty();
    return has_tls ? "--tls-ca, --tls-cert and --tls-key go with --address or ECHOLINE_ADDRESS; "
                     "without, this host's daemon would be asked"
                   : "";
  }
  if (!config::is_address(daemon.address)) {
    return fmt::format("'{}' is no address; allowed: host:port", daemon.address);
  }
  for (const auto& [path, option, variable] :
       {std::tuple{&daemon.tls_ca, "--tls-ca", "ECHOLINE_TLS_CA"},
        {&daemon.tls_cert, "--tls-cert", "ECHOLINE_TLS_CERT"},
        {&daemon.tls_key, "--tls-key", "ECHOLINE_TLS_KEY"}}) {
    if (!path->empty()) continue;
    return fmt::format(
        "{} or {} is missing: over TCP the control service speaks TLS with certificates on both "
        "sides",
        option, variable);
  }
  return "";
}

bool is_remote(const DaemonOptions& given) { return !completed(given).address.empty(); }

void print_other_daemons(const DaemonOptions& given) {
  const std::string text = other_daemons(completed(given));
  if (!text.empty()) fmt::print(stderr, "{}\n", text);
}

Result<ControlChannel> open_channel(const DaemonOptions& given) {
  ControlChannel opened{completed(given), nullptr};
  const DaemonOptions& daemon = opened.daemon;
  if (const std::string misuse = daemon_misuse(given); !misuse.empty()) {
    return Status(Code::kInvalidArgument, misuse);
  }
  if (daemon.address.empty()) {
    opened.channel =
        grpc::CreateChannel("unix:" + socket_of(daemon), grpc::InsecureChannelCredentials());
    return opened;
  }
  grpc::SslCredentialsOptions tls;
  ECHOLINE_ASSIGN(tls.pem_root_certs, read_pem("--tls-ca", daemon.tls_ca));
  ECHOLINE_ASSIGN(tls.pem_cert_chain, read_pem("--tls-cert", daemon.tls_cert));
  ECHOLINE_ASSIGN(tls.pem_private_key, read_pem("--tls-key", daemon.tls_key));
  opened.channel = grpc::CreateChannel("dns:///" + daemon.address, grpc::SslCredentials(tls));
  return opened;
}

Status explain_silence(const DaemonOptions& daemon, const std::string& grpc_message) {
  if (daemon.address.empty()) {
    if (const Status seen = check_socket_connection(socket_of(daemon)); !seen.ok()) {
      const std::string others = other_daemons(daemon);
      if (others.empty()) return seen;
      return Status(seen.code(), fmt::format("{}; {}", seen.message(), others));
    }
    return Status(Code::kUnavailable,
                  fmt::format("the daemon at {} ended the call ({}); is it stopping, or has this "
                              "user too many connections to it?",
                              socket_of(daemon), grpc_message));
  }
  ECHOLINE_TRY(check_tls_connection(daemon));
  return Status(Code::kUnavailable,
                fmt::format("the daemon at {} ended the call ({})", daemon.address, grpc_message));
}

}  // namespace echoline::cli
