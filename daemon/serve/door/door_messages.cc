// The part of the door's thread that talks: requests heard, replies and notices delivered.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/pluralize.h"
#include "serve/door/door_codec.h"
#include "serve/door/door_loop.h"

namespace echoline::serve {

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kComplaintsMax = 5;

std::string reader_name(const shm::AttachRequest& request) {
  return fmt::format("stream {} as job {} rank {}", shm::text(request.stream),
                     shm::text(request.job), request.rank);
}

}  // namespace

void DoorLoop::complain(const Connection& connection, std::string_view what) {
  const std::uint64_t now_ns = monotonic_ns();
  if (now_ns >= complaints_since_ns_ + kSecondNs) {
    if (complaints_ > kComplaintsMax)
      log_warning("door", "{} about trainers left out",
                  pluralize(complaints_ - kComplaintsMax, "more line"));
    complaints_since_ns_ = now_ns;
    complaints_ = 0;
  }
  if (++complaints_ <= kComplaintsMax)
    log_warning("door", "process {} of user {}: {}", connection.peer.pid, connection.peer.uid,
                what);
}

void DoorLoop::hear(std::uint64_t id) {
  const auto found = connections_.find(id);
  // Closed by an earlier event of the same round.
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  std::array<std::byte, sizeof(shm::AttachRequest) + 1> buffer;
  const Received received = receive(connection.socket.get(), buffer);
  if (received.kind == Received::kNothing) return;
  if (received.kind == Received::kGone) return close(id);
  if (connection.standing != ConnectionState::kArrived) {
    // Nothing is to be said after a request: a peer of another kind, or a hostile one.
    complain(connection, "spoke out of turn; detached");
    return close(id);
  }
  if (received.kind == Received::kDescriptors)
    return refuse(id, Status(Code::kInvalidArgument, "attach request: descriptors are not taken"));
  ask(id, connection, std::span(buffer).first(received.bytes));
}

void DoorLoop::ask(std::uint64_t id, Connection& connection, std::span<const std::byte> message) {
  const Result<shm::AttachRequest> request = parse_request(message);
  if (!request.ok()) return refuse(id, request.status());
  if (held_by(connection.peer.uid) >= kPerUserMax)
    return refuse(id, Status(Code::kResourceExhausted,
                             "user " + std::to_string(connection.peer.uid) + " has " +
                                 std::to_string(kPerUserMax) + " trainers attached; detach some"));
  connection.standing = ConnectionState::kAsking;
  connection.reads = reader_name(request.value());
  handler_.attach(id, request.value(), connection.peer,
                  [outbox = outbox_, id](Result<engine::Attachment> attachment) {
                    outbox->reply(id, attachment);
                  });
}

std::size_t DoorLoop::held_by(uid_t uid) const {
  return static_cast<std::size_t>(
      std::count_if(connections_.begin(), connections_.end(), [uid](const auto& entry) {
        return entry.second.peer.uid == uid && entry.second.standing != ConnectionState::kArrived;
      }));
}

void DoorLoop::deliver() {
  for (const Outgoing& outgoing : outbox_->take()) {
    if (const auto* notice = std::get_if<shm::Notice>(&outgoing.what)) {
      deliver_notice(outgoing.connection, *notice);
    } else {
      deliver_reply(outgoing.connection, std::get<Reply>(outgoing.what));
    }
  }
}

void DoorLoop::deliver_reply(std::uint64_t id, const Reply& reply) {
  const auto found = connections_.find(id);
  // The trainer died before its reply came: the engine was told, and the grant's descriptors close
  // here.
  if (found == connections_.end() || found->second.standing != ConnectionState::kAsking) return;
  if (!reply.granted) return refuse(id, reply.grant.status());
  const int socket = found->second.socket.get();
  const Status sent =
      reply.grant.ok() ? send_grant(socket, reply.grant.value()) : reply.grant.status();
  found->second.standing = ConnectionState::kAttached;
  if (sent.ok()) return tell_of_twin(id, found->second);
  complain(found->second, sent.message());
  const shm::AttachReply refusal = make_reply(sent);
  (void)send_bytes(socket, std::as_bytes(std::span(&refusal, 1)));
  close(id);
}

void DoorLoop::tell_of_twin(std::uint64_t id, const Connection& connection) {
  const auto twin = std::find_if(connections_.begin(), connections_.end(), [&](const auto& entry) {
    return entry.first != id && entry.second.standing == ConnectionState::kAttached &&
           entry.second.reads == connection.reads;
  });
  if (twin == connections_.end()) return;
  complain(connection, fmt::format("reads {}, as process {} does already: each of them gets every "
                                   "batch; name another job or rank if that is not meant",
                                   connection.reads, twin->second.peer.pid));
}

void DoorLoop::deliver_notice(std::uint64_t id, const shm::Notice& notice) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second.standing != ConnectionState::kAttached) return;
  // A trainer that doesn't read has filled its own socket: it misses the notice, nobody waits for
  // it.
  const Status sent = send_bytes(found->second.socket.get(), std::as_bytes(std::span(&notice, 1)));
  if (!sent.ok()) complain(found->second, "reads no notices");
}

}  // namespace echoline::serve
