// Server credentials of gRPC that authorize each call. They use gRPC's C interface: the C++ one
// cannot check calls over an unencrypted socket, and its certificate reload accepts broken files.
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

// gRPC's threads call both functions before the handler of each call of any service. They must not
// block. `names` are those of the client's certificate, in the form that ControlRoles compares;
// empty without TLS.
struct CallCheck {
  std::function<Caller(const std::vector<std::string>& names)> caller_of;
  // An error ends the call with that status.
  std::function<Status(const Caller& caller, std::string_view method)> judge;
};

// For handlers: the name of the caller, from `caller_of`.
std::string caller_name(const grpc::ServerContext& context);

// For Unix sockets, where the kernel reports the peer.
std::shared_ptr<grpc::ServerCredentials> unencrypted_credentials(CallCheck check);

// Clients must present a certificate issued by one of files.material()->authorities. Each handshake
// uses the current material. `files` outlives the server.
std::shared_ptr<grpc::ServerCredentials> tls_credentials(const TlsFiles& files, CallCheck check);

}  // namespace echoline::serve
