#include "serve/control/peer_acceptors.h"

#include <grpcpp/server_builder.h>

namespace echoline::serve {
PeerAcceptors::PeerAcceptors(grpc::ServerBuilder& builder, Judge judge)
    : unnamed_{{{Role::kStranger, "a user without a place in daemon.control"},
                {Role::kReader, "a reader"},
                {Role::kOperator, "an operator"}}} {
  for (std::size_t role = 0; role < shared_.size(); ++role) {
    shared_[role].caller = &unnamed_[role];
    add(builder, shared_[role], judge);
    for (Seat& seat : own_[role]) add(builder, seat, judge);
  }
}

PeerAcceptors::~PeerAcceptors() = default;

void PeerAcceptors::add(grpc::ServerBuilder& builder, Seat& seat, const Judge& judge) {
  seat.acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      unencrypted_credentials(
          {[&seat](const std::vector<std::string>& /*names*/) { return *seat.caller.load(); },
           judge}));
}

PeerAcceptors::Seat& PeerAcceptors::seat_of(const Caller& caller) {
  const auto role = static_cast<std::size_t>(caller.role);
  for (Seat& seat : own_[role]) {
    const Caller* const taken = seat.caller;
    if (taken != nullptr && taken->name != caller.name) continue;
    if (taken == nullptr) seat.caller = &callers_.emplace_back(caller);
    return seat;
  }
  return shared_[role];
}

void PeerAcceptors::place(UniqueFd socket, const Caller& caller) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = socket.release();
  seat_of(caller).acceptor->HandleNewConnection(&connection);
}

}  // namespace echoline::serve
