// One GPU's primary context, and what is made in it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "cuda/driver_api.h"
#include "system/error.h"

namespace echoline::client::cuda {

// Retains the primary context, that of the CUDA runtime and of frameworks, while it lives. Any
// thread.
class Device {
 public:
  static Error open(int ordinal, std::shared_ptr<const Device>& device);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DriverTable& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  // Whether read-only host memory can be registered.
  bool registers_read_only() const { return registers_read_only_; }

 private:
  friend class Current;
  Device(const DriverTable& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {}
  Error retain();

  const DriverTable& driver_;
  const int ordinal_;
  DeviceId id_ = 0;
  ContextHandle context_ = nullptr;
  bool registers_read_only_ = false;
};

// Makes the device's context the calling thread's, and that which was before again. What the thread
// does meanwhile disturbs no capture of a CUDA graph in another: memory may be freed by whoever
// lets go of the last batch, at any time.
class Current {
 public:
  explicit Current(const Device& device) : driver_(device.driver()) {
    pushed_ = driver_.context_push(device.context_) == kSuccess;
    relaxed_ = driver_.exchange_capture_mode(&mode_) == kSuccess;
  }
  ~Current() {
    if (relaxed_) driver_.exchange_capture_mode(&mode_);
    ContextHandle popped = nullptr;
    if (pushed_) driver_.context_pop(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const DriverTable& driver_;
  bool pushed_ = false;
  bool relaxed_ = false;
  int mode_ = kCaptureRelaxed;  // then that which was before
};

// What the driver made, destroyed in its context; movable.
template <typename Value, Code (*DriverTable::*kDestroy)(Value)>
class Owned {
 public:
  Owned() = default;
  Owned(std::shared_ptr<const Device> device, Value value)
      : device_(std::move(device)), value_(value) {}
  Owned(Owned&& other) noexcept
      : device_(std::move(other.device_)), value_(std::exchange(other.value_, Value{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~Owned() {
    if (value_ == Value{}) return;
    const Current current(*device_);
    (device_->driver().*kDestroy)(value_);
  }

  Value get() const { return value_; }

 private:
  std::shared_ptr<const Device> device_;
  Value value_{};
};

using Stream = Owned<StreamHandle, &DriverTable::stream_destroy>;
using Event = Owned<EventHandle, &DriverTable::event_destroy>;
using DeviceMemory = Owned<DevicePointer, &DriverTable::mem_free>;
using PinnedMemory = Owned<void*, &DriverTable::host_free>;

// Streams that don't wait for the legacy default stream.
Error make_stream(const std::shared_ptr<const Device>& device, Stream& stream);
// Events whose times can be compared, which host threads sleep on.
Error make_event(const std::shared_ptr<const Device>& device, Event& event);
Error allocate(const std::shared_ptr<const Device>& device, std::size_t bytes,
               DeviceMemory& memory);
Error allocate_pinned(const std::shared_ptr<const Device>& device, std::size_t bytes,
                      PinnedMemory& memory);

}  // namespace echoline::client::cuda
