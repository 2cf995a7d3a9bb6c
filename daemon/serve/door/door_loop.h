// The door's thread: accepts, hears requests, delivers replies and notices, and notices who has
// gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "base/rate_limiter.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "engine/api/attach.h"
#include "serve/door/door_address.h"
#include "serve/door/door_connection.h"
#include "serve/door/door_outbox.h"

namespace echoline::serve {

// Bounds, so that nobody can fill the daemon with connections. Who has asked nothing yet can be put
// out again for a newcomer, the oldest of the user with the most of them first: a flood never keeps
// an honest trainer out.
inline constexpr std::size_t kConnectionsMax = 1024;
inline constexpr std::size_t kArrivedMax = 256;
inline constexpr std::size_t kPerUserMax = 512;  // asking or attached
inline constexpr std::uint64_t kHandshakeNs = 5'000'000'000;

// run() is called by the door's thread, the other functions by any. Handler and outbox outlive it.
// Invariant: each connection given to the handler is withdrawn once, unless it was refused before.
class DoorLoop {
 public:
  static Result<std::unique_ptr<DoorLoop>> create(DoorAddress address,
                                                  engine::AttachHandler& handler,
                                                  std::shared_ptr<DoorOutbox> outbox);
  // Until outbox.stop(); then delivers what is queued and withdraws everybody.
  void run();
  std::size_t connection_count() const { return count_.load(std::memory_order_relaxed); }
  std::uint64_t rounds() const { return rounds_.load(std::memory_order_relaxed); }
  void leave_newcomers_waiting() { leaving_ = address_.outlives_daemon(); }

 private:
  using Connections = std::map<std::uint64_t, Connection>;  // in order of arrival

  DoorLoop(DoorAddress address, engine::AttachHandler& handler, std::shared_ptr<DoorOutbox> outbox);
  Status watch(int fd, std::uint64_t key, std::uint32_t events, int operation);
  int timeout_ms(std::uint64_t now_ns) const;
  void serve(std::uint64_t key, std::uint64_t now_ns);

  void accept_all(std::uint64_t now_ns);
  void admit(UniqueFd socket, std::uint64_t now_ns);
  void pause_accepting(int error, std::uint64_t now_ns);
  void stop_accepting();
  void make_room_for_newcomer();
  void expire(std::uint64_t now_ns);

  void hear(std::uint64_t id);
  void ask(std::uint64_t id, Connection& connection, std::span<const std::byte> message);
  std::size_t held_by(uid_t uid) const;
  void deliver();
  void deliver_reply(std::uint64_t id, const Reply& reply);
  void deliver_notice(std::uint64_t id, const shm::Notice& notice);
  // A log line about a trainer; at most a few a second, for a hostile one could fill the log.
  void complain(const Connection& connection, std::string_view what);
  // Two trainers at one rank of one job are allowed, and mostly a mistake.
  void tell_of_twin(std::uint64_t id, const Connection& connection);
  // Says why and closes; the engine isn't told.
  void refuse(std::uint64_t id, const Status& why);
  void close(std::uint64_t id);

  DoorAddress address_;
  engine::AttachHandler& handler_;
  std::shared_ptr<DoorOutbox> outbox_;
  UniqueFd epoll_;
  Connections connections_;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<bool> leaving_{false};
  std::uint64_t next_id_;
  std::uint64_t paused_until_ns_ = 0;  // 0: accepting
  RateLimiter pauses_told_{10'000'000'000};
  std::uint64_t complaints_since_ns_ = 0;
  std::uint64_t complaints_ = 0;
};

}  // namespace echoline::serve
