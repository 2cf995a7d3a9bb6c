// Accepts the door's connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/rate_limiter.h"
#include "base/unique_fd.h"
#include "serve/door/connection_table.h"
#include "serve/door/door_address.h"
#include "serve/door/door_messages.h"
#include "serve/door/epoll_set.h"

namespace echoline::serve {

// The door's thread, except where said. What it refers to outlives it.
class TrainerAcceptor {
 public:
  TrainerAcceptor(const DoorAddress& address, std::uint64_t key, const EpollSet& epoll,
                  ConnectionTable& connections, DoorMessages& messages)
      : address_(address),
        key_(key),
        epoll_(epoll),
        connections_(connections),
        messages_(messages) {}

  // Begins to watch the listener, with the key given.
  Status start() const;
  // The listener is readable: accepts a bounded number of connections.
  void accept_ready(std::uint64_t now_ns);
  // Ends a pause that is over.
  void resume(std::uint64_t now_ns);
  // When resume() has something to do.
  std::optional<std::uint64_t> resume_at_ns() const { return resume_at_ns_; }
  // Any thread. If the socket outlives this daemon, connections not yet accepted stay in its queue
  // for the next daemon. Otherwise they are accepted, and the engine refuses them.
  void leave_newcomers_waiting() { leaving_ = address_.outlives_daemon(); }

 private:
  // Adds a connection to the table, or refuses it.
  void admit(UniqueFd socket, std::uint64_t now_ns);
  // Makes room among the connections without a request.
  void evict_if_full();
  // Stops accepting for a moment, for want of descriptors.
  void pause(int error, std::uint64_t now_ns);
  // Stops watching the listener.
  void stop_listening();

  const DoorAddress& address_;
  const std::uint64_t key_;
  const EpollSet& epoll_;
  ConnectionTable& connections_;
  DoorMessages& messages_;
  std::optional<std::uint64_t> resume_at_ns_;
  RateLimiter pause_log_{10'000'000'000};
  std::atomic<bool> leaving_{false};
};

}  // namespace echoline::serve
