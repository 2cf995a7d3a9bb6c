// One GPU's primary context, and owners for objects that are made in it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "cuda/driver_api.h"
#include "system/error.h"

namespace echoline::client::cuda {

// Retains the primary context, which the CUDA runtime and frameworks use too, while it lives. Any
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
  friend class CurrentContext;
  Device(const DriverTable& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {}
  Error retain();

  const DriverTable& driver_;
  const int ordinal_;
  DeviceId id_ = 0;
  ContextHandle context_ = nullptr;
  bool registers_read_only_ = false;
};

// Makes the device's context current in this thread and, at its end, the previous one again. While
// it lives, the thread's calls disturb no capture of a CUDA graph in another thread: the thread
// that releases the last batch may free memory at any time.
class CurrentContext {
 public:
  explicit CurrentContext(const Device& device) : driver_(device.driver()) {
    pushed_ = driver_.context_push(device.context_) == kSuccess;
    relaxed_ = driver_.exchange_capture_mode(&mode_) == kSuccess;
  }
  ~CurrentContext() {
    if (relaxed_) driver_.exchange_capture_mode(&mode_);
    ContextHandle popped = nullptr;
    if (pushed_) driver_.context_pop(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const DriverTable& driver_;
  bool pushed_ = false;
  bool relaxed_ = false;
  int mode_ = kCaptureRelaxed;  // after the exchange: the previous mode
};

// Owns an object of the driver and destroys it in its context. Movable.
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
    const CurrentContext current(*device_);
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

// A stream that does not wait for the legacy default stream.
Error make_stream(const std::shared_ptr<const Device>& device, Stream& stream);
// An event that measures time; a host thread that waits for it sleeps.
Error make_event(const std::shared_ptr<const Device>& device, Event& event);
Error allocate(const std::shared_ptr<const Device>& device, std::size_t bytes,
               DeviceMemory& memory);
Error allocate_pinned(const std::shared_ptr<const Device>& device, std::size_t bytes,
                      PinnedMemory& memory);

}  // namespace echoline::client::cuda
