// What other threads want said through the door: a queue with an eventfd that wakes the door's
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "engine/api/attach.h"

namespace echoline::serve {

// A grant with descriptors of its own: the engine may close its ones as soon as it has replied.
struct Grant {
  shm::AttachReply reply{};
  UniqueFd data;
  UniqueFd cursor;
};

struct Reply {
  Result<Grant> grant;
  bool granted = false;  // by the engine; with a failed `grant` it is still to be told of the end
};

struct Outgoing {
  std::uint64_t connection = 0;
  std::variant<Reply, shm::Notice> what;
};

// Any thread; bounded: notices beyond the bound are dropped, replies are one a connection. Outlives
// the door in the hands of those who reply late; what they say then is dropped.
class DoorOutbox {
 public:
  static Result<std::shared_ptr<DoorOutbox>> open();

  void reply(std::uint64_t connection, const Result<engine::Attachment>& attachment);
  void notify(std::uint64_t connection, shm::NoticeKind kind, const Status& status);
  // Wakes the door's thread, which then finds stopping() true.
  void stop();

  int event() const { return event_.get(); }
  bool stopping() const;
  // All that is queued, in order; for the door's thread.
  std::vector<Outgoing> take();
  // Nobody listens any more.
  void close();

 private:
  void push(Outgoing outgoing);
  void wake();

  UniqueFd event_;
  mutable std::mutex mutex_;
  std::vector<Outgoing> queue_;
  bool stopping_ = false;
  bool closed_ = false;
};

}  // namespace echoline::serve
