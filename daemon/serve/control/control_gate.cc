#include "serve/control/control_gate.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/access_list.h"
#include "base/clock.h"
#include "base/log.h"
#include "serve/control/listen_socket.h"
#include "serve/door/door_connection.h"
#include "serve/door/unix_listener.h"

namespace echoline::serve {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
// How long no connection is accepted without a free descriptor.
constexpr std::uint64_t kPauseNs = kSecondNs / 10;
constexpr int kTickMs = 1000;
constexpr int kPausedTickMs = 100;
constexpr int kAcceptsMax = 64;  // in a row: then closed connections are looked for again

std::string address_text(const sockaddr_storage& address, socklen_t bytes) {
  char host[NI_MAXHOST] = "";
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), bytes, host, sizeof host, nullptr, 0,
                NI_NUMERICHOST);
  return host;
}

}  // namespace

Result<std::unique_ptr<ControlGate>> ControlGate::open(ControlGateOptions options) {
  std::unique_ptr<ControlGate> gate(new ControlGate(std::move(options)));
  const ControlGateOptions& given = gate->options_;
  // TCP first: its address is more often wrong, and nothing has to be removed then.
  if (!given.listen.empty()) {
    ECHOLINE_ASSIGN(gate->tcp_, listen_tcp(given.key, given.listen));
  }
  // Ends the thread's poll.
  gate->stop_event_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!gate->stop_event_) return errno_status(errno, "creating an eventfd");
  if (!given.path.empty()) {
    ECHOLINE_ASSIGN(gate->unix_, listen_unix(given.path, SOCK_STREAM, given.mode));
  }
  return gate;
}

void ControlGate::stop() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    (void)!::write(stop_event_.get(), &one, sizeof one);  // an eventfd's counter of 1 always fits
    thread_.join();
  }
  tcp_.reset();
  // Only if the socket is ours: opening can have failed before.
  if (!unix_) return;
  ::unlink(options_.path.c_str());
  unix_.reset();
}

void ControlGate::start(ControlGateHandler handler) {
  handler_ = std::move(handler);
  thread_ = std::thread([this] { run(); });
}

std::uint16_t ControlGate::tcp_port() const {
  return tcp_ ? port_of(tcp_.get()) : std::uint16_t{0};
}

// The set for poll() is built in each round: it has at most 2 * connections_max connections
// (Unix and TCP).
void ControlGate::run() {
  std::uint64_t next_second_ns = monotonic_ns() + kSecondNs;
  // While paused, the listeners are not watched; closed connections are still found.
  while (true) {
    const bool paused = monotonic_ns() < paused_until_ns_;
    enum : std::size_t { kStop, kUnix, kTcp, kFirstConnection };
    // poll() ignores a negative descriptor.
    std::vector<pollfd> watched{{stop_event_.get(), POLLIN, 0},
                                {paused ? -1 : unix_.get(), POLLIN, 0},
                                {paused ? -1 : tcp_.get(), POLLIN, 0}};
    for (const ControlPeer& one : connections_) watched.push_back({one.socket.get(), POLLRDHUP, 0});
    // After an error, all `revents` are 0: nothing is ready.
    ::poll(watched.data(), watched.size(), paused ? kPausedTickMs : kTickMs);
    // stop() has written to the eventfd.
    if (watched[kStop].revents != 0) return;
    std::vector<bool> closed(connections_.size());
    for (std::size_t i = 0; i < closed.size(); ++i)
      closed[i] = watched[kFirstConnection + i].revents != 0;
    // Before accepting, so that closed connections do not count against the limits.
    remove_closed(closed);
    if (watched[kUnix].revents != 0) accept_all(unix_.get(), false);
    if (watched[kTcp].revents != 0) accept_all(tcp_.get(), true);
    if (monotonic_ns() < next_second_ns) continue;
    // From now, so that a late round is not followed by several at once.
    next_second_ns = monotonic_ns() + kSecondNs;
    handler_.every_second();
  }
}

void ControlGate::accept_all(int listener, bool tcp) {
  for (int i = 0; i < kAcceptsMax; ++i) {
    sockaddr_storage address{};
    socklen_t bytes = sizeof address;
    UniqueFd socket(::accept4(listener, reinterpret_cast<sockaddr*>(&address), &bytes,
                              SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      // The peer has left before it was accepted.
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      // Mostly no free descriptor: poll() would return at once again, so stop polling for a moment.
      const Status failed = errno_status(errno, "accept");
      if (pause_log_.due(monotonic_ns())) {
        log_warning("control", "no connection can be accepted: {}", failed.message());
      }
      paused_until_ns_ = monotonic_ns() + kPauseNs;
      return;
    }
    ControlPeer connection;
    connection.tcp = tcp;
    Peer peer;
    if (tcp) {
      connection.peer_name = address_text(address, bytes);
      // gRPC sets this itself only on sockets that it has accepted.
      const int yes = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    } else {
      auto asked = peer_of(socket.get());
      // Without a user no role can be given, so the connection is closed.
      if (!asked.ok()) continue;
      peer = std::move(asked).value();
      connection.peer_name = fmt::format("user {}", peer.uid);
      connection.own = is_own(peer);
    }
    admit(std::move(socket), std::move(connection), peer);
  }
}

bool ControlGate::has_room(const ControlPeer& newcomer) const {
  const auto same = [&](const ControlPeer& one) { return one.tcp == newcomer.tcp; };
  const auto all =
      static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(), same));
  // Root and the daemon's user can use every connection, others not the reserved ones.
  if (newcomer.own) return all < options_.connections_max;
  // Limits count per user, or per address for TCP.
  const auto of_peer = static_cast<std::size_t>(std::count_if(
      connections_.begin(), connections_.end(),
      [&](const ControlPeer& one) { return same(one) && one.peer_name == newcomer.peer_name; }));
  // Over TCP nobody is the daemon's own user, so nothing is reserved.
  const std::size_t reserved = newcomer.tcp ? 0 : kControlReservedForOwn;
  return of_peer < options_.per_peer_max && all + reserved < options_.connections_max;
}

void ControlGate::admit(UniqueFd socket, ControlPeer connection, const Peer& peer) {
  const bool room = has_room(connection);
  // A duplicate: gRPC owns the original, and the gate sees here when the peer closes.
  if (room) connection.socket.reset(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!connection.socket) {
    // One log line; after that only the metric counts.
    if (refused_++ == 0) {
      log_warning("control", "a connection of {} was closed: too many {}", connection.peer_name,
                  room ? "open files" : "connections");
    }
    return;
  }
  const bool tcp = connection.tcp;
  // Counted before gRPC has it: it may close it at once.
  connections_.push_back(std::move(connection));
  recount();
  if (tcp) {
    handler_.on_tcp(std::move(socket));
  } else {
    handler_.on_unix(std::move(socket), peer);
  }
}

// Keeps the order; the vector is short.
void ControlGate::remove_closed(const std::vector<bool>& closed) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (closed[i]) continue;
    if (kept != i) connections_[kept] = std::move(connections_[i]);
    ++kept;
  }
  connections_.resize(kept);
  recount();
}

// Updates the counts that other threads read.
void ControlGate::recount() {
  const auto tcp = static_cast<std::size_t>(std::count_if(
      connections_.begin(), connections_.end(), [](const ControlPeer& one) { return one.tcp; }));
  tcp_count_ = tcp;
  unix_count_ = connections_.size() - tcp;
}

}  // namespace echoline::serve
