#include "mapped_ring/attachment.h"

#include "mapped_ring/batch.h"

namespace echoline::client {

Error Attachment::open(const AttachGrant& grant, std::shared_ptr<Attachment>& attachment) {
  auto made = std::make_shared<Attachment>();
  if (Error e = RingView::open(grant.data_fd->get(), made->ring_); !e.ok()) return e;
  // Keep the descriptor open: remap() needs it. The cursor's descriptor is not needed once mapped.
  made->data_fd_ = grant.data_fd;
  made->reply_ = grant.reply;
  made->cursor_ = std::make_shared<Cursor>();
  Error e = made->cursor_->open(grant.cursor_fd.get(), made->ring().header().descriptor_count,
                                grant.reply.first_sequence);
  if (e.ok()) attachment = std::move(made);
  return e;
}

Error Attachment::remap(const Attachment& other, std::shared_ptr<Attachment>& attachment) {
  auto made = std::make_shared<Attachment>();
  if (Error e = RingView::open(other.data_fd_->get(), made->ring_); !e.ok()) return e;
  // The cursor is shared with the other mapping, because both hold slots of one reader.
  made->data_fd_ = other.data_fd_;
  made->cursor_ = other.cursor_;
  made->reply_ = other.reply_;
  attachment = std::move(made);
  return {};
}

void Attachment::add(Batch& batch) {
  const std::lock_guard lock(mutex_);
  batch.next_ = first_batch_;
  if (first_batch_ != nullptr) first_batch_->previous_ = &batch;
  first_batch_ = &batch;
  // Under the lock, so that freeze() finds every batch that holds descriptors.
  cursor_->hold(batch.location_.first_sequence, batch.location_.last_sequence);
}

void Attachment::remove(Batch& batch) {
  const std::lock_guard lock(mutex_);
  // freeze() has already released the descriptors and emptied the list.
  if (batch.frozen_) return;
  (batch.previous_ != nullptr ? batch.previous_->next_ : first_batch_) = batch.next_;
  if (batch.next_ != nullptr) batch.next_->previous_ = batch.previous_;
  cursor_->release(ring_->writer(), batch.location_.first_sequence, batch.location_.last_sequence);
}

// If a copy fails, nothing is released: batches that were copied keep their copies, the others stay
// in the ring, and all descriptors stay held.
Error Attachment::freeze() {
  const std::lock_guard lock(mutex_);
  // Copy all before releasing any: one page may hold rows of two batches.
  for (Batch* batch = first_batch_; batch != nullptr; batch = batch->next_) {
    if (Error e = batch->freeze(*ring_); !e.ok()) return e;
  }
  for (; first_batch_ != nullptr; first_batch_ = first_batch_->next_) {
    first_batch_->frozen_ = true;
    cursor_->release(ring_->writer(), first_batch_->location_.first_sequence,
                     first_batch_->location_.last_sequence);
  }
  return {};
}

}  // namespace echoline::client
