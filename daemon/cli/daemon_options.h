// Where a command finds its daemon.
#pragma once

#include <string>

namespace echoline::cli {

// By its runtime folder, or by the address of its control service on another host. What is "" comes
// from the environment: ECHOLINE_RUNTIME_DIR and then the default folder; for commands that can
// reach another host ECHOLINE_ADDRESS, ECHOLINE_TLS_CA, ECHOLINE_TLS_CERT and ECHOLINE_TLS_KEY,
// unless a folder is named here.
struct DaemonOptions {
  std::string runtime_dir = {};
  std::string address = {};  // host:port
  std::string tls_ca = {};   // files, PEM
  std::string tls_cert = {};
  std::string tls_key = {};
};

}  // namespace echoline::cli
