#include "cuda/device_meter.h"

namespace echoline::client::cuda {

Code DeviceMeter::begin_wait(StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  return waits_.begin(device_->driver(), stream);
}

void DeviceMeter::end_wait(StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  waits_.end(device_->driver(), stream);
}

void DeviceMeter::count_use() {
  const std::lock_guard lock(mutex_);
  ++counts_.uses;
}

void DeviceMeter::count_copy(std::uint64_t bytes, float milliseconds) {
  const std::lock_guard lock(mutex_);
  ++counts_.batches;
  counts_.bytes += bytes;
  counts_.copy_ns += static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
  // Once a copy is often enough: waits that the GPU has passed are added up before their events
  // are needed again.
  waits_.collect(device_->driver());
}

shm::DeviceFigures DeviceMeter::figures() const {
  const std::lock_guard lock(mutex_);
  shm::DeviceFigures all = counts_;
  all.wait_ns = waits_.wait_ns();
  return all;
}

void DeviceMeter::fill(echoline_cuda_stats& stats) {
  const std::lock_guard lock(mutex_);
  waits_.collect(device_->driver());
  stats.copied_bytes = counts_.bytes;
  stats.copy_ns = counts_.copy_ns;
  stats.batches = counts_.batches;
  stats.uses = counts_.uses;
  stats.wait_ns = waits_.wait_ns();
  stats.span_ns = waits_.span_ns();
}

}  // namespace echoline::client::cuda
