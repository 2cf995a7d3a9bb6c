// The connections of the door, their limits, and their deadlines.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/status.h"
#include "base/unique_fd.h"
#include "engine/api/attach.h"
#include "serve/door/door_connection.h"

namespace echoline::serve {

// Limits, so that no user can exhaust the daemon with connections. A connection without a request
// can be evicted for a new one: the oldest one of the user with the most of them. So a flood of
// silent connections never keeps a correct trainer out.
inline constexpr std::size_t kConnectionsMax = 1024;
inline constexpr std::size_t kAwaitingRequestMax = 256;
inline constexpr std::size_t kTrainersPerUserMax = 512;  // waiting for a reply, or attached
inline constexpr std::uint64_t kHandshakeNs = 5'000'000'000;

// Ids of connections are their keys in the epoll set; smaller keys are the door's own descriptors.
inline constexpr std::uint64_t kFirstConnectionId = 2;

// Owns the connections and their sockets. Only count() may be called by any thread; everything else
// by the door's thread. The handler outlives the table.
// Invariant: a connection whose request the handler got (kAwaitingReply, kAttached) is withdrawn
// from the handler exactly once, when it closes, unless the handler refused it.
class ConnectionTable {
 public:
  explicit ConnectionTable(engine::AttachHandler& handler) : handler_(handler) {}

  // A new connection in kAwaitingRequest, which expires at `deadline_ns`. Ids only grow.
  std::uint64_t add(UniqueFd socket, engine::Peer peer, std::uint64_t deadline_ns);
  // Null if it was closed. Valid until it closes.
  Connection* find(std::uint64_t id);
  // Any thread: how many there are, for the metrics.
  std::size_t count() const { return count_.load(std::memory_order_relaxed); }
  bool too_many() const { return connections_.size() > kConnectionsMax; }
  // Connections of this user that wait for a reply or are attached.
  std::size_t trainers_of(uid_t uid) const;
  // Another attached connection for the same stream, job and rank; null: none.
  const Connection* twin_of(std::uint64_t id) const;
  // The connection to evict before a new one is added; none while there is room.
  std::optional<std::uint64_t> to_evict() const;

  // The earliest deadline of a connection in kAwaitingRequest.
  std::optional<std::uint64_t> next_deadline_ns() const;
  // Refuses the connections whose request is overdue.
  void expire(std::uint64_t now_ns);

  // Sends the reason and closes, without a withdrawal: the handler refused it or never knew it.
  void refuse(std::uint64_t id, const Status& why);
  // Closes, and withdraws it from the handler if that knows it. No effect if it is closed already.
  void close(std::uint64_t id);
  void close_all();

 private:
  engine::AttachHandler& handler_;
  std::map<std::uint64_t, Connection> connections_;  // by id, so in order of arrival
  std::uint64_t next_id_ = kFirstConnectionId;
  std::atomic<std::size_t> count_{0};
};

}  // namespace echoline::serve
