// The driver's functions for pinned host memory, device memory and copies.
#include <cstring>

#include "cuda/fake_driver/call.h"
#include "cuda/fake_driver/device_work.h"
#include "cuda/fake_driver/exports.h"

namespace echoline::cuda_test {
namespace {

constexpr unsigned kHostRegisterFlags = 15;  // portable, device map, I/O memory, read-only
constexpr unsigned kHostAllocFlags = 7;      // portable, device map, write-combined

std::uintptr_t address(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

// How a copy's host memory is pinned; a range that is pinned only in part is refused.
enum class Place { kPinned, kPageable, kBoth };

Place place_of(const Call& call, const HostRange& range) {
  const Pinned* pinned = call.driver.pinned_overlap(range);
  if (pinned == nullptr) return Place::kPageable;
  return pinned->range.contains(range) ? Place::kPinned : Place::kBoth;
}

}  // namespace

Code cuMemHostRegister_v2(void* begin, std::size_t bytes, unsigned flags) {
  Call call(__func__, Call::kContextAndNoCapture);
  if (call.refused != kSuccess) return call.refused;
  if (begin == nullptr || bytes == 0 || (flags & ~kHostRegisterFlags) != 0) return kInvalidValue;
  const bool read_only = (flags & kHostRegisterReadOnly) != 0;
  if (read_only && !call.driver.settings.read_only_register) return kNotSupported;
  const HostRange range = host_range(begin, bytes);
  if (call.driver.pinned_overlap(range) != nullptr) return kHostMemoryAlreadyRegistered;
  const HostAccess access = host_access(range);
  // Without the read-only flag the operating system pins pages for writing. The reference only says
  // that the flag is required; the code here is that for an address that cannot be used.
  if (!access.readable || (!access.writable && !read_only)) return kInvalidValue;
  call.driver.pinned[address(begin)] = {.range = range, .mapping = {}};
  return kSuccess;
}

Code cuMemHostUnregister(void* begin) {
  Call call(__func__, Call::kContextToReleaseAndNoCapture);
  if (call.refused != kSuccess) return call.refused;
  const auto found = call.driver.pinned.find(address(begin));
  if (found == call.driver.pinned.end()) {
    return call.misuse("is not registered", kHostMemoryNotRegistered);
  }
  if (found->second.mapping.memory != nullptr) {
    return call.misuse("was allocated, not registered", kInvalidValue);
  }
  if (call.driver.in_use(found->second.range)) call.misuse("a copy still needs it", kSuccess);
  call.driver.pinned.erase(found);
  return call.context->error;
}

Code cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  Call call(__func__, Call::kContextAndNoCapture);
  if (call.refused != kSuccess) return call.refused;
  if (bytes == 0 || (flags & ~kHostAllocFlags) != 0) return kInvalidValue;
  const Mapping mapping = Mapping::make(bytes);
  if (mapping.memory == nullptr) return kOutOfMemory;
  call.driver.pinned[address(mapping.memory)] = {.range = host_range(mapping.memory, bytes),
                                                 .mapping = mapping};
  *memory = mapping.memory;
  return kSuccess;
}

Code cuMemFreeHost(void* memory) {
  Call call(__func__, Call::kContextToReleaseAndNoCapture);
  if (call.refused != kSuccess) return call.refused;
  const auto found = call.driver.pinned.find(address(memory));
  if (found == call.driver.pinned.end() || found->second.mapping.memory == nullptr) {
    return call.misuse("is not allocated", kInvalidValue);
  }
  const Mapping mapping = found->second.mapping;
  if (call.driver.in_use(found->second.range)) {
    call.misuse("a copy still needs it", kSuccess);
    call.wait_for_all();
  }
  call.driver.pinned.erase(address(memory));
  mapping.unmap();
  return call.context->error;
}

Code cuMemAlloc_v2(DevicePointer* memory, std::size_t bytes) {
  Call call(__func__, Call::kContextAndNoCapture);
  if (call.refused != kSuccess) return call.refused;
  if (bytes == 0) return kInvalidValue;
  Context& context = *call.context;
  if (bytes > call.driver.settings.memory - context.memory_used) return kOutOfMemory;
  const Mapping mapping = Mapping::make(bytes);
  if (mapping.memory == nullptr) return kOutOfMemory;
  context.memory[address(mapping.memory)] = mapping;
  context.memory_used += bytes;
  *memory = address(mapping.memory);
  return kSuccess;
}

// Waits for the device's work, as a real driver does.
Code cuMemFree_v2(DevicePointer memory) {
  Call call(__func__, Call::kContextToReleaseAndNoCapture);
  if (call.refused != kSuccess) return call.refused;
  if (!call.context->memory.contains(memory)) return call.misuse("is not allocated", kInvalidValue);
  call.wait_for_all();
  const auto found = call.context->memory.find(memory);
  if (found == call.context->memory.end()) return call.misuse("freed by two", kInvalidValue);
  found->second.unmap();
  call.context->memory_used -= found->second.bytes;
  call.context->memory.erase(found);
  return call.context->error;
}

Code cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes,
                          StreamHandle handle) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  const auto stream = call.stream(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (bytes == 0) return kSuccess;
  if (holding(stream->context->memory, to, bytes) == nullptr) {
    return call.misuse("the device's memory is not allocated", kInvalidValue);
  }
  const HostRange range = host_range(from, bytes);
  const Place place = place_of(call, range);
  if (place == Place::kBoth) return call.misuse("pinned in part", kInvalidValue);
  if (place == Place::kPinned) {
    return call.enqueue(*stream, copy_to_device(call.driver, to, from, bytes));
  }
  ++call.driver.done.pageable_copies;
  return call.enqueue(*stream, copy_staged(call.driver, to, from, bytes));
}

Code cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, StreamHandle handle) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  const auto stream = call.stream(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (bytes == 0) return kSuccess;
  if (holding(stream->context->memory, from, bytes) == nullptr) {
    return call.misuse("the device's memory is not allocated", kInvalidValue);
  }
  const Place place = place_of(call, host_range(to, bytes));
  if (place == Place::kBoth) return call.misuse("pinned in part", kInvalidValue);
  const Code code = call.enqueue(*stream, copy_to_host(call.driver, to, from, bytes));
  if (code != kSuccess || place == Place::kPinned) return code;
  ++call.driver.done.pageable_copies;
  return call.wait_for(*stream);
}

Code cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes,
                          StreamHandle handle) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  const auto stream = call.stream(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (bytes == 0) return kSuccess;
  const auto& memory = stream->context->memory;
  if (holding(memory, to, bytes) == nullptr || holding(memory, from, bytes) == nullptr) {
    return call.misuse("the device's memory is not allocated", kInvalidValue);
  }
  return call.enqueue(*stream, copy_on_device(call.driver, to, from, bytes));
}

}  // namespace echoline::cuda_test
