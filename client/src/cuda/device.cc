#include "cuda/device.h"

#include <string>

#include "cuda/driver.h"

namespace echoline::client::cuda {

Error Device::open(int ordinal, std::shared_ptr<const Device>& device) {
  const DriverTable* driver = nullptr;
  if (Error e = load_driver(driver); !e.ok()) return e;
  int count = 0;
  if (Error e = driver_error(*driver, driver->device_count(&count), "can't count the GPUs");
      !e.ok()) {
    return e;
  }
  if (ordinal < 0 || ordinal >= count) {
    return {ECHOLINE_INVALID_ARGUMENT, "there is no CUDA device " + std::to_string(ordinal) +
                                           "; the driver shows " + std::to_string(count) +
                                           " (CUDA_VISIBLE_DEVICES chooses them)"};
  }
  const std::shared_ptr<Device> made(new Device(*driver, ordinal));
  if (Error e = made->retain(); !e.ok()) return e;
  device = made;
  return {};
}

// The context is retained last: after an error before it, the destructor has nothing to release.
Error Device::retain() {
  Code code = driver_.device_get(&id_, ordinal_);
  int read_only = 0;
  if (code == kSuccess) {
    code = driver_.device_attribute(&read_only, kAttributeReadOnlyHostRegister, id_);
  }
  if (code == kSuccess) code = driver_.context_retain(&context_, id_);
  registers_read_only_ = read_only != 0;
  return driver_error(driver_, code, "can't use CUDA device " + std::to_string(ordinal_));
}

Device::~Device() {
  if (context_ != nullptr) driver_.context_release(id_);
}

// In all functions below: after an error of the driver the handle is null, which Owned does not
// destroy.
Error make_stream(const std::shared_ptr<const Device>& device, Stream& stream) {
  const CurrentContext current(*device);
  StreamHandle made = nullptr;
  const Code code = device->driver().stream_create(&made, kStreamNonBlocking);
  stream = Stream(device, made);
  return driver_error(device->driver(), code, "can't make a CUDA stream");
}

Error make_event(const std::shared_ptr<const Device>& device, Event& event) {
  const CurrentContext current(*device);
  EventHandle made = nullptr;
  const Code code = device->driver().event_create(&made, kEventBlockingSync);
  event = Event(device, made);
  return driver_error(device->driver(), code, "can't make a CUDA event");
}

Error allocate(const std::shared_ptr<const Device>& device, std::size_t bytes,
               DeviceMemory& memory) {
  const CurrentContext current(*device);
  DevicePointer made = 0;
  const Code code = device->driver().mem_alloc(&made, bytes);
  memory = DeviceMemory(device, made);
  return driver_error(device->driver(), code,
                      "no " + std::to_string(bytes) +
                          " bytes of GPU memory for a batch; lower the depth or the echo window");
}

Error allocate_pinned(const std::shared_ptr<const Device>& device, std::size_t bytes,
                      PinnedMemory& memory) {
  const CurrentContext current(*device);
  void* made = nullptr;
  const Code code = device->driver().host_alloc(&made, bytes, kHostAllocPortable);
  memory = PinnedMemory(device, made);
  return driver_error(device->driver(), code,
                      "can't pin " + std::to_string(bytes) + " bytes of host memory");
}

}  // namespace echoline::client::cuda
