// What a trainer that connects to the door gets from the engine.
#pragma once

#include <cstdint>
#include <functional>

#include "base/peer.h"
#include "base/status.h"
#include "echoline/shm/door.h"

namespace echoline::engine {

using echoline::Peer;

// The engine owns the descriptors. The door duplicates them while the reply function runs.
struct Attachment {
  shm::AttachReply reply{};  // the door fills in magic, versions, code and message
  int data_fd = -1;
  int cursor_fd = -1;
};

// A message to the trainer of a connection.
struct TrainerNotice {
  std::uint64_t connection = 0;
  shm::NoticeKind kind = shm::kNoticeText;
  Status status;
};

using ReplyFunction = std::function<void(Result<Attachment>)>;
// Sends a notice to the trainer of a connection. Any thread; does not block.
using NotifyFunction =
    std::function<void(std::uint64_t connection, shm::NoticeKind kind, const Status& status)>;

// The part of the engine that the door uses, on the door's thread.
class AttachHandler {
 public:
  virtual ~AttachHandler() = default;
  // `reply` is called once, now or later, on any thread, unless the trainer is withdrawn before.
  // A `connection` is never used twice.
  virtual void attach(std::uint64_t connection, const shm::AttachRequest& request, const Peer& peer,
                      ReplyFunction reply) = 0;
  // The connection was closed, of a trainer that is attached or waits for its reply.
  virtual void withdraw(std::uint64_t connection) = 0;
  virtual void set_notify(NotifyFunction notify) = 0;
};

}  // namespace echoline::engine
