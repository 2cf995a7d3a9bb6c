// Server credentials of gRPC that ask before each call. Made on gRPC's C interface, as the C++ one
// has neither a check of calls over an unencrypted socket nor a certificate that can be replaced
// only by a good one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "serve/control/control_roles.h"
#include "serve/control/tls_files.h"

namespace grpc {
class ServerContext;
class ServerCredentials;
}  // namespace grpc

namespace echoline::serve {

// Both are called by gRPC's threads, before the handler of each call of any service, and must not
// block. `names` are those of the client's certificate, as ControlRoles compares them: empty
// without TLS.
struct CallCheck {
  std::function<Caller(const std::vector<std::string>& names)> caller_of;
  // What is not ok is the call's outcome.
  std::function<Status(const Caller& caller, std::string_view method)> judge;
};

// Within a handler: the name of the caller, as the check found it.
std::string caller_name(const grpc::ServerContext& context);

// For sockets whose owner the kernel told.
std::shared_ptr<grpc::ServerCredentials> unencrypted_credentials(CallCheck check);

// Clients must show a certificate of material().client_ca. Each handshake takes the material of
// that moment. `files` outlives the server.
std::shared_ptr<grpc::ServerCredentials> tls_credentials(const TlsFiles& files, CallCheck check);

}  // namespace echoline::serve
