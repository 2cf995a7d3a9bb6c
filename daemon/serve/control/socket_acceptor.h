// Hands sockets that a gate has accepted over to a server of gRPC.
#pragma once

#include <memory>

#include "base/unique_fd.h"

namespace grpc {
class ServerBuilder;
class ServerCredentials;
namespace experimental {
class ExternalConnectionAcceptor;
}  // namespace experimental
}  // namespace grpc

namespace echoline::serve {

class SocketAcceptor {
 public:
  // Adds itself to a server that is being built: gRPC takes no acceptors later. The credentials are
  // those of all connections that it hands over.
  SocketAcceptor(grpc::ServerBuilder& builder,
                 const std::shared_ptr<grpc::ServerCredentials>& credentials);
  SocketAcceptor(const SocketAcceptor&) = delete;
  SocketAcceptor& operator=(const SocketAcceptor&) = delete;
  ~SocketAcceptor();

  // gRPC owns the socket from here on. Only after the server has started, and before its shutdown.
  void accept(UniqueFd socket);

 private:
  const std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
};

}  // namespace echoline::serve
