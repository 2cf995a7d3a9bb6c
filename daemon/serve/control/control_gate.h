// Where connections to the control service come in: its own accepting thread, because gRPC tells
// neither who is at the other end of a Unix socket nor bounds their number. No gRPC in here.
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

// Over a Unix socket and over TCP each: neither can use up the other's. What is beyond is closed at
// once.
inline constexpr std::size_t kControlConnectionsMax = 128;
// Of one user, or from one address. The daemon's own user and root are bounded by the number above
// alone, and 16 of that are kept for them.
inline constexpr std::size_t kControlPerPeerMax = 32;
inline constexpr std::size_t kControlKeptForOwn = 16;

struct ControlGateHandler {
  std::function<void(UniqueFd socket, const Peer& peer)> unix_arrival;
  std::function<void(UniqueFd socket)> tcp_arrival;
  std::function<void()> every_second;
};

// The handler's functions are called by the gate's thread; the counts can be asked for by any.
class ControlGate {
 public:
  // `listen` is "" for no TCP.
  static Result<std::unique_ptr<ControlGate>> open(const std::string& path, mode_t mode,
                                                   const std::string& listen);
  ControlGate(const ControlGate&) = delete;
  ControlGate& operator=(const ControlGate&) = delete;
  // Nobody is let in any more; the socket is removed. Connections are their new owner's to end.
  ~ControlGate();

  void start(ControlGateHandler handler);

  std::uint16_t tcp_port() const;  // 0: no TCP
  std::size_t unix_connections() const { return unix_count_; }
  std::size_t tcp_connections() const { return tcp_count_; }
  std::uint64_t turned_away() const { return turned_away_; }

 private:
  // A second descriptor of each socket, by which its end is noticed: who owns the first does not
  // tell.
  struct Held {
    UniqueFd socket;
    bool tcp = false;
    std::string who;
    bool own = false;
  };

  explicit ControlGate(std::string path) : path_(std::move(path)) {}
  void run();
  void accept_all(int listener, bool tcp);
  bool has_room(const Held& newcomer) const;
  void let_in(UniqueFd socket, Held held, const Peer& peer);
  void forget_gone(const std::vector<bool>& gone);
  void recount();

  const std::string path_;
  UniqueFd unix_;
  UniqueFd tcp_;
  UniqueFd stop_;
  ControlGateHandler handler_;
  std::vector<Held> held_;
  std::uint64_t paused_until_ns_ = 0;  // out of descriptors
  RateLimiter pauses_told_{10'000'000'000};
  std::atomic<std::size_t> unix_count_ = 0;
  std::atomic<std::size_t> tcp_count_ = 0;
  std::atomic<std::uint64_t> turned_away_ = 0;
  std::thread thread_;
};

}  // namespace echoline::serve
