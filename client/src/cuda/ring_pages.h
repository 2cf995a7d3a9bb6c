// The registered pages of the ring that is read now: other ones after each new attachment.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "cuda/host_pages.h"
#include "mapped_ring/batch.h"

namespace echoline::client::cuda {

// Any thread. Its lock is taken under the host loader's lock and takes only that of HostPages.
class RingPages {
 public:
  // How long leave() waits for copies that read the ring.
  static constexpr std::chrono::seconds kLeaveTimeout{5};

  explicit RingPages(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  Error open(std::shared_ptr<Attachment> attachment);

  // The pages of the ring that the batch is in; registers them if the ring is a new one. `before`:
  // what the device did until now, which the new ring's daemon must not count.
  Error of_batch(const Batch& batch, const shm::DeviceFigures& before,
                 std::shared_ptr<HostPages>& pages);
  // Null once closed.
  std::shared_ptr<HostPages> current() const;

  // The host loader is about to leave that attachment: no new copy reads its memory. True if all
  // copies that did have ended within kLeaveTimeout. Called under the host loader's lock.
  bool leave(const std::shared_ptr<Attachment>& attachment);
  // Drops the pages: nothing of the ring stays registered or mapped. No copy may read it.
  void close();
  // Never frees the pages: a copy that hangs in the driver may still read them.
  void leave_to_driver();

 private:
  const std::shared_ptr<const Device> device_;
  mutable std::mutex mutex_;          // of all below
  std::shared_ptr<HostPages> pages_;  // of the newest attachment
  std::shared_ptr<Attachment> left_;  // its memory is, or soon will be, the daemon's again
};

}  // namespace echoline::client::cuda
