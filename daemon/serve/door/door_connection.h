// One trainer's connection, and the socket calls that the door makes on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "engine/api/attach.h"
#include "serve/door/door_outbox.h"

namespace echoline::serve {

enum class ConnectionState {
  kAwaitingRequest,  // connected; the engine does not know it
  kAwaitingReply,    // the engine has its request
  kAttached,         // it has the ring's descriptors
};

struct Connection {
  UniqueFd socket;
  engine::Peer peer;
  ConnectionState state = ConnectionState::kAwaitingRequest;
  std::uint64_t deadline_ns = 0;  // of its request, while kAwaitingRequest
  std::string reader_name = {};   // "stream photos as job default rank 0"; from kAwaitingReply on
};

// The process, user and groups at the other end, from the kernel.
Result<engine::Peer> peer_of(int socket);

struct Received {
  enum Kind { kNothing, kMessage, kClosed, kDescriptors } kind = kNothing;
  std::size_t bytes = 0;  // of the message; it is cut to the buffer's size
};
// Never blocks. kDescriptors: the message had file descriptors with it. The kernel has closed them,
// because the call offers no space for them.
Received receive(int socket, std::span<std::byte> buffer);

// Never blocks; kUnavailable if the peer does not read.
Status send_grant(int socket, const Grant& grant);
Status send_bytes(int socket, std::span<const std::byte> message);

// Reads and drops input of the peer. Closing a socket with unread input would discard the last
// message sent to the peer.
void discard_input(int socket);

}  // namespace echoline::serve
