#include "cuda/kernel_device.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/driver.h"
#include "cuda/host_threads.h"
#include "cuda/more_driver_api.h"

namespace echoline::cuda_test {
namespace {

using namespace client::cuda;

class HostThreads final : public KernelDevice {
 public:
  const DriverTable& driver() const override { return host_threads(); }
  StreamHandle stream() const override { return nullptr; }

  std::uint8_t* put(std::span<const std::uint8_t> bytes, std::size_t skew) override {
    auto& memory = memory_.emplace_back(new std::uint8_t[skew + bytes.size()]);
    std::ranges::copy(bytes, memory.get() + skew);
    return memory.get() + skew;
  }
  std::vector<std::uint8_t> get(const std::uint8_t* place, std::size_t bytes) override {
    return {place, place + bytes};
  }
  void forget() override { memory_.clear(); }

 private:
  std::vector<std::unique_ptr<std::uint8_t[]>> memory_;
};

class Driver final : public KernelDevice {
 public:
  Driver(const DriverTable& driver, DeviceId device) : driver_(driver), device_(device) {
    ContextHandle context = nullptr;
    must(driver_.context_retain(&context, device_));
    must(driver_.context_push(context));
    must(driver_.stream_create(&stream_, kStreamNonBlocking));
  }
  ~Driver() override {
    forget();
    driver_.stream_destroy(stream_);
    ContextHandle context = nullptr;
    driver_.context_pop(&context);
    driver_.context_release(device_);
  }

  const DriverTable& driver() const override { return driver_; }
  StreamHandle stream() const override { return stream_; }

  std::uint8_t* put(std::span<const std::uint8_t> bytes, std::size_t skew) override {
    DevicePointer& memory = memory_.emplace_back();
    must(driver_.mem_alloc(&memory,
                           skew + bytes.size() + 1));  // the driver refuses to allocate 0 bytes
    if (!bytes.empty()) {
      must(driver_.copy_to_device(memory + skew, bytes.data(), bytes.size(), stream_));
    }
    must(more_.stream_synchronize(stream_));
    return reinterpret_cast<std::uint8_t*>(memory + skew);
  }
  std::vector<std::uint8_t> get(const std::uint8_t* place, std::size_t bytes) override {
    std::vector<std::uint8_t> copy(bytes);
    if (bytes > 0) {
      const auto from = static_cast<DevicePointer>(reinterpret_cast<std::uintptr_t>(place));
      must(more_.copy_to_host(copy.data(), from, bytes, stream_));
    }
    must(more_.stream_synchronize(stream_));
    return copy;
  }
  void forget() override {
    for (const DevicePointer memory : memory_) driver_.mem_free(memory);
    memory_.clear();
  }

 private:
  void must(Code code) const {
    const client::Error error = driver_error(driver_, code, "a call of the test's");
    ASSERT_TRUE(error.ok()) << error.text();
  }

  const DriverTable& driver_;
  const MoreDriver& more_ = *MoreDriver::find();
  DeviceId device_;
  StreamHandle stream_ = nullptr;
  std::vector<DevicePointer> memory_;
};

}  // namespace

std::unique_ptr<KernelDevice> KernelDevice::of_host_threads() {
  return std::make_unique<HostThreads>();
}

std::unique_ptr<KernelDevice> KernelDevice::of_driver(std::string& why) {
  const DriverTable* driver = nullptr;
  client::Error error = load_driver(driver);
  DeviceId device = 0;
  if (error.ok()) {
    error = driver_error(*driver, driver->device_get(&device, 0), "can't find the first device");
  }
  why = error.text();
  if (!error.ok()) return nullptr;
  return std::make_unique<Driver>(*driver, device);
}

}  // namespace echoline::cuda_test
