#include "bench/gpu/gpu.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda/driver.h"

namespace echoline::gpu {
namespace {

using namespace client::cuda;

constexpr int kAttributeMemoryClock = 36;     // kHz
constexpr int kAttributeMemoryBusWidth = 37;  // bits

[[noreturn]] void leave(int code, const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(code);
}

const DriverTable& found_driver() {
  const DriverTable* driver = nullptr;
  const client::Error error = load_driver(driver);
  if (!error.ok()) leave(kNoGpu, "no GPU to measure on: " + error.text());
  return *driver;
}

const cuda_test::MoreDriver& more_of_driver() {
  const cuda_test::MoreDriver* more = cuda_test::MoreDriver::find();
  if (more == nullptr) leave(1, "the CUDA driver lacks functions that are measured with");
  return *more;
}

}  // namespace

Gpu::Gpu(int ordinal) : driver_(found_driver()), more_(more_of_driver()) {
  const client::Error error =
      driver_error(driver_, driver_.device_get(&device_, ordinal), "no such GPU");
  if (!error.ok()) leave(kNoGpu, error.text());
  ContextHandle context = nullptr;
  must(driver_.context_retain(&context, device_), "can't make a context");
  must(driver_.context_push(context), "can't make the context current");
  must(driver_.stream_create(&stream_, kStreamNonBlocking), "can't make a stream");
  must(driver_.event_create(&begin_, 0), "can't make an event");
  must(driver_.event_create(&end_, 0), "can't make an event");
}

Gpu::~Gpu() {
  for (const DevicePointer memory : memory_) driver_.mem_free(memory);
  driver_.event_destroy(end_);
  driver_.event_destroy(begin_);
  driver_.stream_destroy(stream_);
  ContextHandle context = nullptr;
  driver_.context_pop(&context);
  driver_.context_release(device_);
}

std::string Gpu::name() const {
  char name[256] = {};
  must(driver_.device_name(name, sizeof name, device_), "can't ask for the device's name");
  return name;
}

double Gpu::peak_bandwidth() const {
  int kilohertz = 0;
  int bits = 0;
  if (driver_.device_attribute(&kilohertz, kAttributeMemoryClock, device_) != kSuccess ||
      driver_.device_attribute(&bits, kAttributeMemoryBusWidth, device_) != kSuccess) {
    return 0;
  }
  return 2.0 * kilohertz * 1e3 * bits / 8;  // two transfers a clock
}

DevicePointer Gpu::memory(std::size_t bytes) {
  DevicePointer& memory = memory_.emplace_back();
  must(driver_.mem_alloc(&memory, bytes), "can't allocate the device's memory");
  return memory;
}

DevicePointer Gpu::filled(const void* from, std::size_t bytes) {
  const DevicePointer to = memory(bytes);
  must(driver_.copy_to_device(to, from, bytes, stream_), "can't copy to the device");
  must(more_.stream_synchronize(stream_), "can't copy to the device");
  return to;
}

double Gpu::seconds(const std::function<void()>& work) {
  must(driver_.event_record(begin_, stream_), "can't record an event");
  work();
  must(driver_.event_record(end_, stream_), "can't record an event");
  must(driver_.event_synchronize(end_), "the device failed");
  float milliseconds = 0;
  must(driver_.event_elapsed(&milliseconds, begin_, end_), "can't take the time");
  return milliseconds / 1e3;
}

void Gpu::must(Code code, const char* what) const { must(driver_error(driver_, code, what)); }

void Gpu::must(const client::Error& error) {
  if (!error.ok()) leave(1, error.text());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

long option(int count, char** arguments, const std::string& name, long otherwise) {
  const std::string text = text_option(count, arguments, name);
  return text.empty() ? otherwise : std::strtol(text.c_str(), nullptr, 10);
}

std::string text_option(int count, char** arguments, const std::string& name) {
  for (int i = 1; i + 1 < count; ++i) {
    if ("--" + name == arguments[i]) return arguments[i + 1];
  }
  return {};
}

}  // namespace echoline::gpu
