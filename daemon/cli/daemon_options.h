// How a command finds its daemon.
#pragma once

#include <string>

namespace echoline::cli {

// Either the daemon's runtime folder, or the address of its control service on another host. An
// empty value is read from the environment: ECHOLINE_RUNTIME_DIR, then the default folder. Commands
// of the control service also read ECHOLINE_ADDRESS, ECHOLINE_TLS_CA, ECHOLINE_TLS_CERT and
// ECHOLINE_TLS_KEY, unless runtime_dir is set here.
struct DaemonOptions {
  std::string runtime_dir = {};
  std::string address = {};  // host:port
  std::string tls_ca = {};   // files, PEM
  std::string tls_cert = {};
  std::string tls_key = {};
};

}  // namespace echoline::cli
