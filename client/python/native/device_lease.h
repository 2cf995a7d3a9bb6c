// Shared ownership of a batch on a GPU.
#pragma once

#include <memory>
#include <utility>

#include "echoline/echoline_cuda.h"
#include "object.h"

namespace echoline::python {

// The batch and its tensors own it together. The last owner releases the batch, on the stream that
// it was taken for. Any thread, with or without the GIL.
class DeviceLease {
 public:
  DeviceLease(echoline_cuda_batch* batch, void* stream) : batch_(batch), stream_(stream) {}
  DeviceLease(const DeviceLease&) = delete;
  DeviceLease& operator=(const DeviceLease&) = delete;
  ~DeviceLease() { echoline_cuda_release(batch_, stream_); }

  // Null after take(). Call both with the GIL: the batch stays valid as long as the caller holds
  // it.
  const echoline_cuda_batch* batch() const { return batch_; }
  // Passes the batch to the caller, who must release it, with or without the GIL.
  echoline_cuda_batch* take() { return std::exchange(batch_, nullptr); }
  void* stream() const { return stream_; }

 private:
  echoline_cuda_batch* batch_;
  void* const stream_;
};

using SharedDeviceLease = std::shared_ptr<DeviceLease>;

// The deallocator of an object with a `lease`. It drops the GIL while it releases the batch: the
// driver may wait for the device, and the device for another Python thread.
template <typename T>
void destroy_with_lease(PyObject* self) {
  SharedDeviceLease lease = std::move(value_of<T>(self).lease);
  destroy<T>(self);
  if (lease.use_count() == 1) without_gil([&] { return lease.reset(), ECHOLINE_OK; });
}

}  // namespace echoline::python
