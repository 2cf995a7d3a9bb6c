#include "serve/control/peer_acceptors.h"

namespace echoline::serve {

PeerAcceptors::PeerAcceptors(grpc::ServerBuilder& builder, Judge judge)
    : unnamed_{{{Role::kStranger, "a user who is not in daemon.control"},
                {Role::kReader, "a reader"},
                {Role::kOperator, "an operator"}}} {
  // All acceptors are made before the server starts: gRPC takes no later ones.
  for (std::size_t role = 0; role < shared_.size(); ++role) {
    shared_[role].caller = &unnamed_[role];
    add(builder, shared_[role], judge);
    for (PeerAcceptor& own : own_[role]) add(builder, own, judge);
  }
}

void PeerAcceptors::add(grpc::ServerBuilder& builder, PeerAcceptor& added, const Judge& judge) {
  added.acceptor.emplace(
      builder,
      unencrypted_credentials(
          // Read at each call; set before the first connection of this acceptor.
          {[&added](const std::vector<std::string>& /*names*/) { return *added.caller.load(); },
           judge}));
}

PeerAcceptors::PeerAcceptor& PeerAcceptors::acceptor_of(const Caller& caller) {
  const auto role = static_cast<std::size_t>(caller.role);
  for (PeerAcceptor& own : own_[role]) {
    const Caller* const taken = own.caller;
    // Another caller's.
    if (taken != nullptr && taken->name != caller.name) continue;
    // Stored before the connection is handed over, so that its first call finds it.
    if (taken == nullptr) own.caller = &callers_.emplace_back(caller);
    return own;
  }
  // All are taken: the role still holds, and only the name in the log is lost.
  return shared_[role];
}

void PeerAcceptors::accept(UniqueFd socket, const Caller& caller) {
  acceptor_of(caller).acceptor->accept(std::move(socket));
}

}  // namespace echoline::serve
