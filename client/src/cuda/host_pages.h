// How the device reads one attachment's ring: its arenas, registered with the driver.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/device.h"
#include "echoline/echoline_cuda.h"
#include "mapped_ring/attachment.h"

namespace echoline::client::cuda {

// Any thread. Keeps the mapping while it lives; copies from it have ended before it goes.
class HostPages {
 public:
  // Registers what can be: read-only where the device can, else through the writable mapping of an
  // unsealed ring, else nothing, and the CPU copies. Never an error but for a device that fails.
  // `before`: what the device did for attachments before this.
  static Error open(std::shared_ptr<const Device> device, std::shared_ptr<Attachment> attachment,
                    const shm::DeviceFigures& before, std::shared_ptr<HostPages>& pages);
  ~HostPages();

  echoline_cuda_path path() const { return path_; }
  const Attachment* attachment() const { return attachment_.get(); }
  // For the daemon's metrics; `all`: what the device ever did.
  void tell(const shm::DeviceFigures& all) const;
  bool covers(const void* begin, std::size_t bytes) const;

  // A copy by the device may begin; false: the ring is being left, its memory must be read by the
  // CPU, which sees what was put aside.
  bool begin_copy();
  void end_copy();
  // No copy begins any more; true when none runs, within the time.
  bool leave(std::chrono::nanoseconds patience);

 private:
  struct Range {
    const std::byte* begin;
    std::size_t bytes;
  };
  HostPages(std::shared_ptr<const Device> device, std::shared_ptr<Attachment> attachment,
            const shm::DeviceFigures& before)
      : device_(std::move(device)), attachment_(std::move(attachment)), before_(before) {}
  Error register_all();
  Code register_range(const Range& range) const;
  void unregister_all();

  const std::shared_ptr<const Device> device_;
  const std::shared_ptr<Attachment> attachment_;
  const shm::DeviceFigures before_;
  echoline_cuda_path path_ = ECHOLINE_PATH_STAGED;
  std::vector<Range> registered_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int copies_ = 0;
  bool left_ = false;
};

}  // namespace echoline::client::cuda
