// Accepts the connections of the control service on a thread of its own, because gRPC neither
// reports the peer of a Unix socket nor limits the number of connections. Free of gRPC.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/peer.h"
#include "base/rate_limiter.h"
#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// The defaults of a gate, for the Unix socket and for TCP each, so that neither can use up the
// other's. A connection beyond the limit is closed at once.
inline constexpr std::size_t kControlConnectionsMax = 128;
// Of one user, or from one address. For root and the daemon's user only the limit above counts, and
// 16 connections are reserved for them.
inline constexpr std::size_t kControlPerPeerMax = 32;
inline constexpr std::size_t kControlReservedForOwn = 16;

struct ControlGateOptions {
  std::string path{};    // of the Unix socket; empty: none
  mode_t mode = 0600;    // of it
  std::string listen{};  // empty: no TCP
  std::string key;       // the setting of `listen`, for errors
  std::size_t connections_max = kControlConnectionsMax;
  std::size_t per_peer_max = kControlPerPeerMax;
};

struct ControlGateHandler {
  std::function<void(UniqueFd socket, const Peer& peer)> on_unix;
  std::function<void(UniqueFd socket)> on_tcp;
  std::function<void()> every_second;
};

// The gate's thread calls the handler's functions; any thread may read the counts. The handler gets
// the accepted sockets and closes them; the gate keeps duplicates to count them.
class ControlGate {
 public:
  // Listens; start() accepts.
  static Result<std::unique_ptr<ControlGate>> open(ControlGateOptions options);
  ControlGate(const ControlGate&) = delete;
  ControlGate& operator=(const ControlGate&) = delete;
  ~ControlGate() { stop(); }

  void start(ControlGateHandler handler);
  // Joins the thread, closes the listeners and removes the socket. Accepted connections stay open:
  // the handler owns them.
  void stop();

  std::uint16_t tcp_port() const;  // 0: no TCP
  std::size_t unix_connections() const { return unix_count_; }
  std::size_t tcp_connections() const { return tcp_count_; }
  std::uint64_t refused() const { return refused_; }

 private:
  // An accepted connection. The duplicated descriptor shows when the peer closes it: gRPC, which
  // owns the original, does not report that.
  struct ControlPeer {
    UniqueFd socket;
    bool tcp = false;
    std::string peer_name;  // for limits and the log
    bool own = false;       // of root or the daemon's user
  };

  explicit ControlGate(ControlGateOptions options) : options_(std::move(options)) {}
  // The thread: polls the listeners and the connections.
  void run();
  // Accepts what waits at a listener.
  void accept_all(int listener, bool tcp);
  // Whether the limits allow this connection.
  bool has_room(const ControlPeer& newcomer) const;
  // Passes a connection to the handler if there is room, else closes it.
  void admit(UniqueFd socket, ControlPeer connection, const Peer& peer);
  // Forgets the connections whose peer has closed them.
  void remove_closed(const std::vector<bool>& closed);
  void recount();

  const ControlGateOptions options_;
  UniqueFd unix_;
  UniqueFd tcp_;
  UniqueFd stop_event_;
  ControlGateHandler handler_;
  std::vector<ControlPeer> connections_;
  std::uint64_t paused_until_ns_ = 0;  // while there is no free descriptor
  RateLimiter pause_log_{10'000'000'000};
  std::atomic<std::size_t> unix_count_ = 0;
  std::atomic<std::size_t> tcp_count_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  std::thread thread_;
};

}  // namespace echoline::serve
