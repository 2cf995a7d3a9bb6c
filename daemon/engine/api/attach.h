// What the engine grants to a trainer that knocks at the door.
#pragma once

#include <cstdint>
#include <functional>

#include "base/peer.h"
#include "base/status.h"
#include "echoline/shm/door.h"

namespace echoline::engine {

using echoline::Peer;

// The descriptors stay the engine's: the door duplicates them by sending, before the attachment is
// withdrawn.
struct Attachment {
  shm::AttachReply reply{};  // but magic, versions, code and message, which the door fills in
  int data_fd = -1;
  int cursor_fd = -1;
};

// Something to be said to the trainer of a connection.
struct TrainerNotice {
  std::uint64_t connection = 0;
  shm::NoticeKind kind = shm::kNoticePeers;
  Status status;
};

using ReplyFunction = std::function<void(Result<Attachment>)>;
// Tells the trainer of a connection something, through the door. Callable from any thread.
using NotifyFunction =
    std::function<void(std::uint64_t connection, shm::NoticeKind kind, const Status& status)>;

// The engine as the door sees it. Called from the door's thread.
class AttachHandler {
 public:
  virtual ~AttachHandler() = default;
  // `reply` is called once, at once or later, from any thread. `connection` is never used twice.
  virtual void attach(std::uint64_t connection, const shm::AttachRequest& request, const Peer& peer,
                      ReplyFunction reply) = 0;
  // The trainer is gone, attached or still waiting for its reply.
  virtual void withdraw(std::uint64_t connection) = 0;
  virtual void set_notify(NotifyFunction notify) = 0;
};

}  // namespace echoline::engine
