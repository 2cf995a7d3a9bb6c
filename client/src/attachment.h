// What one successful attach gave: the mapped ring, this consumer's cursor, and the batches that
// are out.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "cursor.h"
#include "door_client.h"
#include "ring_view.h"

namespace echoline::client {

class Batch;

// Shared by the loader and by every batch that is out, so that a user's views stay valid after a
// detach and after a daemon that came back gave the loader a new attachment. Threads: any. The list
// of batches has a lock of its own.
class Attachment {
 public:
  static Error open(const Grant& grant, std::shared_ptr<Attachment>& attachment);
  // The same ring and cursor in a new mapping.
  static Error open_again(const Attachment& other, std::shared_ptr<Attachment>& attachment);

  const RingView& ring() const { return *ring_; }
  Cursor& cursor() const { return *cursor_; }
  const shm::AttachReply& reply() const { return reply_; }

  // A batch holds descriptors [first, last] from enter to leave.
  void enter(Batch& batch);
  void leave(Batch& batch);
  // Copies what the batches that are out show aside, under the same addresses, and gives their
  // slots back: the ring may go on, or this consumer leave it, and the user's views never change.
  Error freeze();

 private:
  std::shared_ptr<GuardedFd> data_fd_;
  std::unique_ptr<RingView> ring_;
  std::shared_ptr<Cursor> cursor_;
  shm::AttachReply reply_{};
  std::mutex mutex_;
  Batch* first_batch_ = nullptr;
};

}  // namespace echoline::client
