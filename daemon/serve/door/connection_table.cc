#include "serve/door/connection_table.h"

#include <algorithm>
#include <utility>

#include "serve/door/door_codec.h"

namespace echoline::serve {

std::uint64_t ConnectionTable::add(UniqueFd socket, engine::Peer peer, std::uint64_t deadline_ns) {
  const std::uint64_t id = next_id_++;
  connections_.emplace(id, Connection{std::move(socket), std::move(peer),
                                      ConnectionState::kAwaitingRequest, deadline_ns});
  count_.store(connections_.size(), std::memory_order_relaxed);
  return id;
}

Connection* ConnectionTable::find(std::uint64_t id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : &found->second;
}

std::size_t ConnectionTable::trainers_of(uid_t uid) const {
  return static_cast<std::size_t>(
      std::count_if(connections_.begin(), connections_.end(), [uid](const auto& entry) {
        return entry.second.peer.uid == uid &&
               entry.second.state != ConnectionState::kAwaitingRequest;
      }));
}

const Connection* ConnectionTable::twin_of(std::uint64_t id) const {
  const Connection& connection = connections_.at(id);
  // The names hold stream, job and rank.
  const auto twin = std::find_if(connections_.begin(), connections_.end(), [&](const auto& entry) {
    return entry.first != id && entry.second.state == ConnectionState::kAttached &&
           entry.second.reader_name == connection.reader_name;
  });
  return twin == connections_.end() ? nullptr : &twin->second;
}

std::optional<std::uint64_t> ConnectionTable::to_evict() const {
  std::map<uid_t, std::size_t> waiting;
  std::size_t sum = 0;
  for (const auto& [id, connection] : connections_) {
    if (connection.state != ConnectionState::kAwaitingRequest) continue;
    ++waiting[connection.peer.uid];
    ++sum;
  }
  // There is room: nobody is evicted.
  if (sum < kAwaitingRequestMax) return std::nullopt;
  // The user with the most of them, so that one user cannot push out another.
  const auto busiest =
      std::max_element(waiting.begin(), waiting.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  // The first match is the oldest: the map is in order of arrival.
  const auto oldest =
      std::find_if(connections_.begin(), connections_.end(), [&](const auto& entry) {
        return entry.second.state == ConnectionState::kAwaitingRequest &&
               entry.second.peer.uid == busiest->first;
      });
  return oldest->first;
}

// All connections get the same time, so the oldest one in kAwaitingRequest expires first.
std::optional<std::uint64_t> ConnectionTable::next_deadline_ns() const {
  // In the order of arrival, so the first match is the oldest.
  for (const auto& [id, connection] : connections_)
    if (connection.state == ConnectionState::kAwaitingRequest) return connection.deadline_ns;
  return std::nullopt;
}

void ConnectionTable::expire(std::uint64_t now_ns) {
  for (auto next = connections_.begin(); next != connections_.end();) {
    // Steps on first: refuse() erases this entry.
    const auto& [id, connection] = *next++;
    if (connection.state != ConnectionState::kAwaitingRequest) continue;
    // All later ones expire later.
    if (connection.deadline_ns > now_ns) return;
    refuse(id, Status(Code::kDeadlineExceeded, "no attach request within 5 s of connecting"));
  }
}

void ConnectionTable::refuse(std::uint64_t id, const Status& why) {
  Connection& connection = connections_.at(id);
  const shm::AttachReply reply = make_reply(why);
  // A peer that is gone already needs no reason, so a failure is ignored.
  (void)send_bytes(connection.socket.get(), std::as_bytes(std::span(&reply, 1)));
  discard_input(connection.socket.get());
  // In this state close() does not withdraw it.
  connection.state = ConnectionState::kAwaitingRequest;
  close(id);
}

void ConnectionTable::close(std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const bool known = found->second.state != ConnectionState::kAwaitingRequest;
  // Closes the socket, before the handler hears of it.
  connections_.erase(found);
  count_.store(connections_.size(), std::memory_order_relaxed);
  if (known) handler_.withdraw(id);
}

void ConnectionTable::close_all() {
  // Each close erases the first entry.
  while (!connections_.empty()) close(connections_.begin()->first);
}

}  // namespace echoline::serve
