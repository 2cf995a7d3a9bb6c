// Hands connections to gRPC together with who is at their other end. gRPC tells a call neither its
// socket nor anything that could be told from it, but it knows through which acceptor a connection
// came: each caller has an acceptor of its own, a seat.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>

#include "base/status.h"
#include "base/unique_fd.h"
#include "serve/control/control_credentials.h"

namespace grpc {
class ServerBuilder;
namespace experimental {
class ExternalConnectionAcceptor;
}  // namespace experimental
}  // namespace grpc

namespace echoline::serve {

// place() is called by one thread. A seat is never given to somebody else: a call of a connection
// that has gone may still be under way.
class PeerAcceptors {
 public:
  using Judge = decltype(CallCheck::judge);

  // Adds the seats' acceptors; `judge` is called by gRPC's threads.
  PeerAcceptors(grpc::ServerBuilder& builder, Judge judge);
  ~PeerAcceptors();

  // After the server has started.
  void place(UniqueFd socket, const Caller& caller);

 private:
  struct Seat {
    std::atomic<const Caller*> caller = nullptr;  // null: not taken yet
    std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  };
  void add(grpc::ServerBuilder& builder, Seat& seat, const Judge& judge);
  Seat& seat_of(const Caller& caller);

  std::array<Caller, 3> unnamed_;  // of each role
  std::array<Seat, 3> shared_;     // for those of a role who find no seat of their own
  std::array<std::array<Seat, 16>, 3> own_;
  std::deque<Caller> callers_;
};

}  // namespace echoline::serve
