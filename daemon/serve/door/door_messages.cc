#include "serve/door/door_messages.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <variant>

#include "serve/door/door_codec.h"

namespace echoline::serve {
namespace {

// What two trainers of one rank have in common (ConnectionTable::twin_of).
std::string reader_name(const shm::AttachRequest& request) {
  return fmt::format("stream {} as job {} rank {}", shm::text(request.stream),
                     shm::text(request.job), request.rank);
}

}  // namespace

void DoorMessages::read(std::uint64_t id) {
  Connection* connection = connections_.find(id);
  // An earlier event of the same round closed it.
  if (connection == nullptr) return;
  // One byte more than a request, so that a longer message is seen as one.
  std::array<std::byte, sizeof(shm::AttachRequest) + 1> buffer;
  const Received received = receive(connection->socket.get(), buffer);
  if (received.kind == Received::kNothing) return;
  if (received.kind == Received::kClosed) return connections_.close(id);
  if (connection->state != ConnectionState::kAwaitingRequest) {
    // The protocol has one request per connection, so this is a wrong or a hostile client.
    log_.warn(*connection, "sent a message after its request; detached");
    return connections_.close(id);
  }
  if (received.kind == Received::kDescriptors)
    return connections_.refuse(
        id, Status(Code::kInvalidArgument, "attach request: descriptors are not accepted"));
  handle_request(id, *connection, std::span(buffer).first(received.bytes));
}

void DoorMessages::handle_request(std::uint64_t id, Connection& connection,
                                  std::span<const std::byte> message) {
  const Result<shm::AttachRequest> request = parse_request(message);
  if (!request.ok()) return connections_.refuse(id, request.status());
  if (connections_.trainers_of(connection.peer.uid) >= kTrainersPerUserMax)
    return connections_.refuse(
        id, Status(Code::kResourceExhausted,
                   fmt::format("user {} has {} trainers attached; detach some", connection.peer.uid,
                               kTrainersPerUserMax)));
  // Before attach(): the reply may come from another thread at once.
  connection.state = ConnectionState::kAwaitingReply;
  connection.reader_name = reader_name(request.value());
  // The reply can come from any thread and after the end of the door, so it holds the outbox, not
  // this object.
  handler_.attach(id, request.value(), connection.peer,
                  [outbox = outbox_, id](Result<engine::Attachment> attachment) {
                    outbox->reply(id, attachment);
                  });
}

void DoorMessages::deliver() {
  for (const Outgoing& outgoing : outbox_->take()) {
    if (const auto* notice = std::get_if<shm::Notice>(&outgoing.message)) {
      deliver_notice(outgoing.connection, *notice);
    } else {
      deliver_reply(outgoing.connection, std::get<Reply>(outgoing.message));
    }
  }
}

void DoorMessages::deliver_reply(std::uint64_t id, const Reply& reply) {
  Connection* connection = connections_.find(id);
  // The trainer died before its reply: close() has withdrawn it, and the grant's descriptors close
  // with `reply`.
  if (connection == nullptr || connection->state != ConnectionState::kAwaitingReply) return;
  if (!reply.granted) return connections_.refuse(id, reply.grant.status());
  const int socket = connection->socket.get();
  const Status sent =
      reply.grant.ok() ? send_grant(socket, reply.grant.value()) : reply.grant.status();
  // Also after a failure: the engine counts it as attached, so close() must withdraw it.
  connection->state = ConnectionState::kAttached;
  if (sent.ok()) return warn_of_twin(id, *connection);
  // The engine has granted it, so close() must withdraw it: not a refuse().
  log_.warn(*connection, sent.message());
  const shm::AttachReply refusal = make_reply(sent);
  (void)send_bytes(socket, std::as_bytes(std::span(&refusal, 1)));
  connections_.close(id);
}

void DoorMessages::warn_of_twin(std::uint64_t id, const Connection& connection) {
  // Allowed, but mostly a mistake.
  const Connection* twin = connections_.twin_of(id);
  if (twin == nullptr) return;
  const std::string text = fmt::format(
      "reads {}, as process {} does already: each of them gets every batch; name another job or "
      "rank if that is not intended",
      connection.reader_name, twin->peer.pid);
  log_.warn(connection, text);
  const Status status(Code::kUnavailable, fmt::format("process {} {}", connection.peer.pid, text));
  deliver_notice(id, make_notice(shm::kNoticeText, status));
}

void DoorMessages::deliver_notice(std::uint64_t id, const shm::Notice& notice) {
  const Connection* connection = connections_.find(id);
  // Only the progress of an opening is for trainers that wait for their answer.
  const ConnectionState expected = notice.kind == shm::kNoticeOpening
                                       ? ConnectionState::kAwaitingReply
                                       : ConnectionState::kAttached;
  if (connection == nullptr || connection->state != expected) return;
  // A trainer that reads nothing fills its own socket and loses the notice; the door never waits.
  const Status sent = send_bytes(connection->socket.get(), std::as_bytes(std::span(&notice, 1)));
  if (!sent.ok()) log_.warn(*connection, "reads no notices");
}

}  // namespace echoline::serve
