// Who still uses a batch on a GPU.
#pragma once

#include <memory>
#include <utility>

#include "echoline/echoline_cuda.h"
#include "object.h"

namespace echoline::python {

// Shared by a batch and the tensors on it; the last owner's end gives the batch back, on the stream
// that it was taken for. Any thread, also without Python's lock.
class DeviceLease {
 public:
  DeviceLease(echoline_cuda_batch* batch, void* stream) : batch_(batch), stream_(stream) {}
  DeviceLease(const DeviceLease&) = delete;
  DeviceLease& operator=(const DeviceLease&) = delete;
  ~DeviceLease() { echoline_cuda_release(batch_, stream_); }

  // Null after take(). Both are for who has Python's lock: the batch is there while it is held.
  const echoline_cuda_batch* batch() const { return batch_; }
  // What the caller is to give back now, with the lock or without.
  echoline_cuda_batch* take() { return std::exchange(batch_, nullptr); }
  void* stream() const { return stream_; }

 private:
  echoline_cuda_batch* batch_;
  void* const stream_;
};

using SharedDeviceLease = std::shared_ptr<DeviceLease>;

// The deallocator of an object with a `lease`. Giving a batch back calls the driver, which may wait
// for the device, and that for a thread of Python: others run meanwhile.
template <typename T>
void destroy_with_lease(PyObject* self) {
  SharedDeviceLease lease = std::move(value_of<T>(self).lease);
  destroy<T>(self);
  if (lease.use_count() == 1) without_gil([&] { return lease.reset(), ECHOLINE_OK; });
}

}  // namespace echoline::python
