// Registers the memory of one attachment's ring with the driver, so that the device can read it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/device.h"
#include "echoline/echoline_cuda.h"
#include "mapped_ring/attachment.h"

namespace echoline::client::cuda {

// Any thread. Keeps the mapping. Destroyed only after all copies from it have ended.
class HostPages {
 public:
  // Registers the ring: read-only if the device supports it, else through the writable mapping of
  // an unsealed ring. If neither works, the CPU copies. An error only if the device fails.
  // `before`: what the device did for earlier attachments.
  static Error open(std::shared_ptr<const Device> device, std::shared_ptr<Attachment> attachment,
                    const shm::DeviceFigures& before, std::shared_ptr<HostPages>& pages);
  ~HostPages();

  echoline_cuda_path path() const { return path_; }
  const Attachment* attachment() const { return attachment_.get(); }
  // Writes the daemon's metrics; `all`: what the device did for all attachments.
  void report(const shm::DeviceFigures& all) const;
  // Whether all of the bytes are registered.
  bool covers(const void* begin, std::size_t bytes) const;

  // Before a copy by the device. False: the CPU must read the batch. Either nothing is registered,
  // or the loader leaves the ring: then the batch's bytes were copied elsewhere, under the same
  // addresses, which only the CPU sees.
  bool begin_copy();
  void end_copy();
  // From now on begin_copy() returns false. True if no copy by the device runs before the timeout.
  bool leave(std::chrono::nanoseconds timeout);

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
  std::mutex mutex_;  // of all below; no other lock is taken under it
  std::condition_variable ended_;
  int copies_ = 0;  // by the device, that have not ended
  bool leaving_ = false;
};

}  // namespace echoline::client::cuda
