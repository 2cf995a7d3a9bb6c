// What a loader counts: batches, uses, bytes, the time of copies and of the trainer's waits.
#pragma once

#include <mutex>

#include "cuda/wait_meter.h"
#include "echoline/echoline_cuda.h"
#include "echoline/shm/ring_layout.h"

namespace echoline::client::cuda {

// Any thread, with the device's context current. It has its own lock and takes no other.
class DeviceMeter {
 public:
  explicit DeviceMeter(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  Error make() { return waits_.make(device_); }

  // Before and after the commands that make the trainer's stream wait; one use at a time. The code
  // is not kSuccess if the stream does not belong to this device.
  Code begin_wait(StreamHandle stream);
  void end_wait(StreamHandle stream);
  void count_use();
  void count_copy(std::uint64_t bytes, float milliseconds);

  // As the daemon gets it.
  shm::DeviceFigures figures() const;
  // As the trainer gets it; the members about memory stay as they are.
  void fill(echoline_cuda_stats& stats);

 private:
  const std::shared_ptr<const Device> device_;
  mutable std::mutex mutex_;  // of all below
  WaitMeter waits_;
  shm::DeviceFigures counts_{};  // without the waits
};

}  // namespace echoline::client::cuda
