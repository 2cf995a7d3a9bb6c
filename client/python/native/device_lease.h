// Who still uses a batch on a GPU.
#pragma once

#include <atomic>
#include <memory>

#include "echoline/echoline_cuda.h"

namespace echoline::python {

// Shared by a batch and the tensors on it; the last owner's end gives the batch back, on the stream
// that it was taken for. Any thread, also without Python's lock.
class DeviceLease {
 public:
  DeviceLease(echoline_cuda_batch* batch, void* stream) : batch_(batch), stream_(stream) {}
  DeviceLease(const DeviceLease&) = delete;
  DeviceLease& operator=(const DeviceLease&) = delete;
  ~DeviceLease() { release(stream_); }

  // Null after release().
  const echoline_cuda_batch* batch() const { return batch_; }
  void* stream() const { return stream_; }
  void release(void* stream) { echoline_cuda_release(batch_.exchange(nullptr), stream); }

 private:
  std::atomic<echoline_cuda_batch*> batch_;
  void* const stream_;
};

using SharedDeviceLease = std::shared_ptr<DeviceLease>;

}  // namespace echoline::python
