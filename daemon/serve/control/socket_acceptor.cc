#include "serve/control/socket_acceptor.h"

#include <grpcpp/server_builder.h>

namespace echoline::serve {

SocketAcceptor::SocketAcceptor(grpc::ServerBuilder& builder,
                               const std::shared_ptr<grpc::ServerCredentials>& credentials)
    : acceptor_(builder.experimental().AddExternalConnectionAcceptor(
          // gRPC gets connected sockets; it listens nowhere itself.
          grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials)) {}

SocketAcceptor::~SocketAcceptor() = default;

void SocketAcceptor::accept(UniqueFd socket) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = socket.release();
  acceptor_->HandleNewConnection(&connection);
}

}  // namespace echoline::serve
