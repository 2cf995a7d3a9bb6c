// One trainer's connection, and the few socket calls the door makes on it.
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
  kArrived,  // has said nothing yet
  kAsking,   // the engine has its request
  kAttached,
};

struct Connection {
  UniqueFd socket;
  engine::Peer peer;
  ConnectionState standing = ConnectionState::kArrived;
  std::uint64_t deadline_ns = 0;  // while kArrived
  std::string reads = {};         // "stream photos as job default rank 0"; from kAsking on
};

// Who is at the other end, as the kernel says.
Result<engine::Peer> peer_of(int socket);

struct Received {
  enum Kind { kNothing, kMessage, kGone, kDescriptors } kind = kNothing;
  std::size_t bytes = 0;  // more than fit are cut off
};
// Never blocks. Descriptors sent along are closed by the kernel, for no room is offered for them;
// kDescriptors says so.
Received receive(int socket, std::span<std::byte> buffer);

// Never blocks; a peer that doesn't read is kUnavailable.
Status send_grant(int socket, const Grant& grant);
Status send_bytes(int socket, std::span<const std::byte> message);

// Reads away what the peer still sent: closing over unread bytes would take our last words from it.
void discard_input(int socket);

}  // namespace echoline::serve
