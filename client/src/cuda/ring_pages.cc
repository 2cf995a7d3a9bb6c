#include "cuda/ring_pages.h"

namespace echoline::client::cuda {

Error RingPages::open(std::shared_ptr<Attachment> attachment) {
  const std::lock_guard lock(mutex_);
  return HostPages::open(device_, std::move(attachment), {}, pages_);
}

Error RingPages::of_batch(const Batch& batch, const shm::DeviceFigures& before,
                          std::shared_ptr<HostPages>& pages) {
  const std::lock_guard lock(mutex_);
  if (pages_->attachment() != &batch.attachment()) {
    // Copies from the old ring keep their pages alive; the last one to end unregisters them.
    if (Error e = HostPages::open(device_, batch.shared_attachment(), before, pages_); !e.ok()) {
      return e;
    }
    // leave() may have come between the batch and this call.
    // With a timeout of 0 it only marks the pages: no copy reads them yet.
    if (left_.get() == &batch.attachment()) pages_->leave({});
  }
  pages = pages_;
  return {};
}

std::shared_ptr<HostPages> RingPages::current() const {
  const std::lock_guard lock(mutex_);
  return pages_;
}

bool RingPages::leave(const std::shared_ptr<Attachment>& attachment) {
  std::shared_ptr<HostPages> pages;
  {
    const std::lock_guard lock(mutex_);
    left_ = attachment;
    pages = pages_;
  }
  // Waits without the lock: the copier may still ask for pages.
  return pages->leave(kLeaveTimeout);
}

void RingPages::close() {
  const std::lock_guard lock(mutex_);
  pages_.reset();
  left_.reset();
}

// A copy of the pointer that nobody destroys.
void RingPages::leave_to_driver() {
  const std::lock_guard lock(mutex_);
  new std::shared_ptr<HostPages>(pages_);
}

}  // namespace echoline::client::cuda
