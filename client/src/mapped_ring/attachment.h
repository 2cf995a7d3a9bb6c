// The result of one successful attach: the mapped ring, this trainer's cursor, and the list of
// batches that the trainer holds.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "mapped_ring/attach_grant.h"
#include "mapped_ring/cursor.h"
#include "mapped_ring/ring_view.h"

namespace echoline::client {

class Batch;

// The loader and every batch own it together: a user's views stay valid after a detach, and after
// the loader attached again. Any thread; mutex_ guards the list of batches and their list links.
// Lock order: mutex_ before the cursor's lock.
class Attachment {
 public:
  static Error open(const AttachGrant& grant, std::shared_ptr<Attachment>& attachment);
  // The same ring and cursor in a new mapping.
  static Error remap(const Attachment& other, std::shared_ptr<Attachment>& attachment);

  const RingView& ring() const { return *ring_; }
  Cursor& cursor() const { return *cursor_; }
  const shm::AttachReply& reply() const { return reply_; }

  // A batch holds its descriptors from add() to remove().
  void add(Batch& batch);
  void remove(Batch& batch);
  // Replaces the pages of all held batches by private copies at the same addresses and releases
  // their slots. The user's views stay valid and unchanged while the ring continues or is left.
  Error freeze();

 private:
  std::shared_ptr<GuardedFd> data_fd_;
  std::unique_ptr<RingView> ring_;
  std::shared_ptr<Cursor> cursor_;
  shm::AttachReply reply_{};
  std::mutex mutex_;
  Batch* first_batch_ = nullptr;  // head of a doubly linked list
};

}  // namespace echoline::client
