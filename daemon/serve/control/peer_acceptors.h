// Passes connections of the Unix socket to gRPC together with their caller. gRPC does not tell a
// call the socket that it came through, only the acceptor. So each caller gets its own acceptor.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <optional>

#include "base/unique_fd.h"
#include "serve/control/control_credentials.h"
#include "serve/control/socket_acceptor.h"

namespace echoline::serve {

// One thread calls accept(). An acceptor keeps its first caller: a call of a connection that has
// closed may still be running, so the acceptor cannot be reused for another caller.
class PeerAcceptors {
 public:
  using Judge = decltype(CallCheck::judge);

  // Adds all acceptors to the server; gRPC's threads call `judge`.
  PeerAcceptors(grpc::ServerBuilder& builder, Judge judge);

  // Gives gRPC a connection. Only after the server has started.
  void accept(UniqueFd socket, const Caller& caller);

 private:
  struct PeerAcceptor {
    std::atomic<const Caller*> caller = nullptr;  // null: free
    std::optional<SocketAcceptor> acceptor;
  };
  // Adds one acceptor to the server that is being built.
  void add(grpc::ServerBuilder& builder, PeerAcceptor& added, const Judge& judge);
  // The caller's own acceptor, a free one, or the shared one of its role.
  PeerAcceptor& acceptor_of(const Caller& caller);

  std::array<Caller, 3> unnamed_;       // the callers of the shared acceptors, by role
  std::array<PeerAcceptor, 3> shared_;  // by role; used when all of own_ are taken
  std::array<std::array<PeerAcceptor, 16>, 3> own_;
  std::deque<Caller> callers_;  // those of own_; a deque, because its elements never move
};

}  // namespace echoline::serve
