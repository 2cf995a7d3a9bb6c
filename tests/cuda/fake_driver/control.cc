// The functions of fake_cuda.h.
#include "cuda/fake_driver/call.h"
#include "cuda/fake_driver/device_work.h"
#include "cuda/fake_driver/exports.h"

namespace echoline::cuda_test {
namespace {

std::shared_ptr<Stream> stream_of(const char* function, StreamHandle handle) {
  Call call(function, handle != nullptr ? Call::kInitialised : Call::kContext);
  return call.refused == kSuccess ? call.stream(handle) : nullptr;
}

}  // namespace

void fake_cuda_reset() {
  Driver& driver = Driver::get();
  std::unique_lock lock(driver.mutex);
  driver.reset(lock);
}

void fake_cuda_set_delay(unsigned min_us, unsigned max_us, std::uint64_t seed) {
  Driver& driver = Driver::get();
  const std::lock_guard lock(driver.mutex);
  driver.settings.delay_min_us = min_us;
  driver.settings.delay_max_us = max_us;
  driver.random.seed(seed);
}

void fake_cuda_set_devices(int count) {
  Driver& driver = Driver::get();
  const std::lock_guard lock(driver.mutex);
  driver.settings.devices = count;
}

void fake_cuda_set_memory(std::uint64_t bytes) {
  Driver& driver = Driver::get();
  const std::lock_guard lock(driver.mutex);
  driver.settings.memory = bytes;
}

void fake_cuda_set_read_only_register(int supported) {
  Driver& driver = Driver::get();
  const std::lock_guard lock(driver.mutex);
  driver.settings.read_only_register = supported != 0;
}

void fake_cuda_fail(const char* function, int code, int nth, int sticky) {
  Driver& driver = Driver::get();
  const std::lock_guard lock(driver.mutex);
  driver.faults.add({.function = function, .code = code, .nth = nth, .sticky = sticky != 0});
}

void fake_cuda_heal() {
  Driver& driver = Driver::get();
  const std::lock_guard lock(driver.mutex);
  driver.faults = {};
}

void fake_cuda_set_capture(StreamHandle handle, int status) {
  const auto stream = stream_of(__func__, handle);
  const std::lock_guard lock(Driver::get().mutex);
  if (stream != nullptr) stream->capture = status;
}

void fake_cuda_set_stuck(StreamHandle handle, int stuck) {
  const auto stream = stream_of(__func__, handle);
  const std::lock_guard lock(Driver::get().mutex);
  if (stream == nullptr) return;
  stream->stuck = stuck != 0;
  Driver::get().changed.notify_all();
}

int fake_cuda_read_on_stream(StreamHandle handle, DevicePointer from, std::size_t bytes,
                             unsigned microseconds, const std::uint64_t* expected) {
  Call call(__func__, handle != nullptr ? Call::kInitialised : Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  const auto stream = call.stream(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (holding(stream->context->memory, from, bytes) == nullptr) {
    return call.misuse("the device's memory is not allocated", kInvalidValue);
  }
  std::optional<std::uint64_t> sum;
  if (expected != nullptr) sum = *expected;
  return call.enqueue(
      *stream, watch(call.driver, from, bytes, std::chrono::microseconds(microseconds), sum));
}

std::uint64_t fake_cuda_checksum(const void* from, std::size_t bytes) {
  return checksum(from, bytes);
}

void fake_cuda_counters(FakeCudaCounters* counters) {
  Driver& driver = Driver::get();
  const std::lock_guard lock(driver.mutex);
  *counters = driver.done;
  counters->streams = driver.streams.size();
  counters->events = driver.events.size();
  counters->modules = driver.modules.size();
  for (const auto& [handle, context] : driver.contexts) {
    counters->contexts += context->retains;
    counters->device_allocations += context->memory.size();
    counters->device_bytes += context->memory_used;
    for (const auto& stream : context->streams) counters->operations += stream->pending();
  }
  for (const auto& [begin, pinned] : driver.pinned) {
    if (pinned.mapping.memory != nullptr) {
      ++counters->host_allocations;
    } else {
      ++counters->registrations;
      counters->registered_bytes += pinned.range.end - pinned.range.begin;
    }
  }
}

int fake_cuda_misuse_count() {
  Driver& driver = Driver::get();
  const std::lock_guard lock(driver.mutex);
  return static_cast<int>(driver.misuses.size());
}

const char* fake_cuda_misuse(int index) {
  Driver& driver = Driver::get();
  const std::lock_guard lock(driver.mutex);
  const auto at = static_cast<std::size_t>(index);
  return at < driver.misuses.size() ? driver.misuses[at].c_str() : nullptr;
}

}  // namespace echoline::cuda_test
