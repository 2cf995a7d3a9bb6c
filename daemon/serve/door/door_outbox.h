// The queue of replies and notices from other threads to the door's thread, which an eventfd wakes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "engine/api/attach.h"

namespace echoline::serve {

// A grant with duplicated descriptors: the engine may close the originals when it has replied.
struct Grant {
  shm::AttachReply reply{};
  UniqueFd data;
  UniqueFd cursor;
};

struct Reply {
  Result<Grant> grant;
  // Whether the engine granted it. If then `grant` failed (no descriptor left), the engine must
  // still be notified with withdraw().
  bool granted = false;
};

// One message and its connection.
struct Outgoing {
  std::uint64_t connection = 0;
  std::variant<Reply, shm::Notice> message;
};

// Any thread may call reply(), notify(), stop() and wake(); the door's thread calls the others.
// Bounded: notices beyond the bound are dropped, and there is one reply per connection. The
// engine's reply functions own it too, so it can outlive the door; after close() it drops
// everything.
class DoorOutbox {
 public:
  static Result<std::shared_ptr<DoorOutbox>> open();

  void reply(std::uint64_t connection, const Result<engine::Attachment>& attachment);
  void notify(std::uint64_t connection, shm::NoticeKind kind, const Status& status);
  // Wakes the door's thread, which then finds stopping() true.
  void stop();
  // Wakes the door's thread without a message.
  void wake();

  int event() const { return event_.get(); }
  bool stopping() const;
  // Everything that is queued, in order.
  std::vector<Outgoing> take();
  // The door's thread ends: from now on messages are dropped.
  void close();

 private:
  // Queues a message and wakes the door's thread.
  void push(Outgoing outgoing);

  UniqueFd event_;
  mutable Mutex mutex_;
  std::vector<Outgoing> queue_ ECHOLINE_GUARDED_BY(mutex_);
  bool stopping_ ECHOLINE_GUARDED_BY(mutex_) = false;
  bool closed_ ECHOLINE_GUARDED_BY(mutex_) = false;
};

}  // namespace echoline::serve
