// A GPU to measure on: its context, a stream, memory, times between events. A failure ends the
// program with a line that says what failed: with code 1, or kNoGpu if there is no GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda/driver_api.h"
#include "cuda/more_driver_api.h"
#include "system/error.h"

namespace echoline::gpu {

inline constexpr int kNoGpu = 77;  // the exit code that ctest reads as skipped

class Gpu {
 public:
  // Makes the primary context of device `ordinal` current in this thread.
  explicit Gpu(int ordinal);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const client::cuda::DriverTable& driver() const { return driver_; }
  const cuda_test::MoreDriver& more() const { return more_; }
  client::cuda::StreamHandle stream() const { return stream_; }
  std::string name() const;
  // Bytes per second, from the memory's clock and width; 0 if the driver does not say.
  double peak_bandwidth() const;

  // Device memory; freed with the GPU.
  client::cuda::DevicePointer memory(std::size_t bytes);
  client::cuda::DevicePointer filled(const void* from, std::size_t bytes);

  // Seconds on the stream for what `work` enqueues.
  double seconds(const std::function<void()>& work);

  void must(client::cuda::Code code, const char* what) const;
  static void must(const client::Error& error);

 private:
  const client::cuda::DriverTable& driver_;
  const cuda_test::MoreDriver& more_;
  client::cuda::DeviceId device_ = 0;
  client::cuda::StreamHandle stream_ = nullptr;
  client::cuda::EventHandle begin_ = nullptr;
  client::cuda::EventHandle end_ = nullptr;
  std::vector<client::cuda::DevicePointer> memory_;
};

double median(std::vector<double> values);

// The value of --NAME in a program's arguments; `otherwise` if it is not given.
long option(int count, char** arguments, const std::string& name, long otherwise);
std::string text_option(int count, char** arguments, const std::string& name);  // empty: not given

}  // namespace echoline::gpu
