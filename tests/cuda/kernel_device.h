// Where a test runs kernels: the host's threads (host_threads.h), or the driver that is found: a
// GPU's or the fake driver.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/kernels.h"

namespace echoline::cuda_test {

class KernelDevice {
 public:
  static std::unique_ptr<KernelDevice> of_host_threads();
  // Null if there is no driver with a device; `why` then says so.
  static std::unique_ptr<KernelDevice> of_driver(std::string& why);

  virtual ~KernelDevice() = default;

  virtual const client::cuda::DriverTable& driver() const = 0;
  virtual client::cuda::StreamHandle stream() const = 0;

  // A copy in the device's memory, `skew` bytes after a multiple of 16; valid until forget(). On
  // the host it ends where its memory ends, so that an address sanitizer sees reads beyond it.
  virtual std::uint8_t* put(std::span<const std::uint8_t> bytes, std::size_t skew) = 0;
  // Waits for all launches.
  virtual std::vector<std::uint8_t> get(const std::uint8_t* place, std::size_t bytes) = 0;
  virtual void forget() = 0;
};

}  // namespace echoline::cuda_test
