#include "cuda/fake_driver/device_work.h"

#include <cstring>
#include <vector>

namespace echoline::cuda_test {
namespace {

constexpr int kSteps = 4;

void* at(DevicePointer memory) { return reinterpret_cast<void*>(memory); }

// Copies in parts, one after each part of the time, then everything once more. False: the context
// is lost.
bool copy_in_steps(void* to, const void* from, std::size_t bytes, std::chrono::microseconds time,
                   const Pause& pause) {
  std::memset(to, kSpoilt, bytes);
  for (int step = 0; step < kSteps; ++step) {
    if (!pause(time / kSteps)) return false;
    const std::size_t begin = bytes / kSteps * step;
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                bytes / kSteps);
  }
  std::memcpy(to, from, bytes);
  return true;
}

Code to_device(Driver& driver, DevicePointer to, const void* from, std::size_t bytes,
               std::chrono::microseconds time, const Pause& pause) {
  if (!copy_in_steps(at(to), from, bytes, time, pause)) return kSuccess;
  const std::lock_guard lock(driver.mutex);
  ++driver.done.copies;
  driver.done.copied_bytes += bytes;
  return kSuccess;
}

}  // namespace

Operation copy_to_device(Driver& driver, DevicePointer to, const void* from, std::size_t bytes) {
  Operation operation;
  operation.host = host_range(from, bytes);
  operation.run = [&driver, to, from, bytes, time = driver.draw_delay()](const Pause& pause) {
    return to_device(driver, to, from, bytes, time, pause);
  };
  return operation;
}

Operation copy_staged(Driver& driver, DevicePointer to, const void* from, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(from);
  Operation operation;
  operation.run = [&driver, to, staged = std::vector(first, first + bytes),
                   time = driver.draw_delay()](const Pause& pause) {
    return to_device(driver, to, staged.data(), staged.size(), time, pause);
  };
  return operation;
}

Operation copy_on_device(Driver& driver, DevicePointer to, DevicePointer from, std::size_t bytes) {
  Operation operation;
  operation.run = [to, from, bytes, time = driver.draw_delay()](const Pause& pause) {
    copy_in_steps(at(to), at(from), bytes, time, pause);
    return kSuccess;
  };
  return operation;
}

Operation copy_to_host(Driver& driver, void* to, DevicePointer from, std::size_t bytes) {
  const auto target = static_cast<DevicePointer>(reinterpret_cast<std::uintptr_t>(to));
  Operation operation = copy_on_device(driver, target, from, bytes);
  operation.host = host_range(to, bytes);
  return operation;
}

Operation watch(Driver& driver, DevicePointer from, std::size_t bytes,
                std::chrono::microseconds time, std::optional<std::uint64_t> expected) {
  Operation operation;
  operation.run = [&driver, from, bytes, time, expected](const Pause& pause) {
    const auto sum = [&] { return checksum(at(from), bytes); };
    const std::optional<bool> kept = stays(sum, expected.value_or(sum()), time, pause);
    if (kept == false) {
      const std::lock_guard lock(driver.mutex);
      ++driver.done.torn_reads;
      driver.misuse("a trainer's kernel saw other bytes than those of its batch");
    }
    return kSuccess;
  };
  return operation;
}

std::optional<bool> stays(const std::function<std::uint64_t()>& sum, std::uint64_t wanted,
                          std::chrono::microseconds time, const Pause& pause) {
  bool kept = sum() == wanted;
  for (int step = 0; step < kSteps; ++step) {
    if (!pause(time / kSteps)) return std::nullopt;
    kept = sum() == wanted && kept;
  }
  return kept;
}

std::uint64_t checksum(const void* from, std::size_t bytes, std::uint64_t before) {
  const auto* first = static_cast<const std::uint8_t*>(from);
  for (std::size_t i = 0; i < bytes; ++i) before = (before ^ first[i]) * 1099511628211U;
  return before;
}

}  // namespace echoline::cuda_test
