// Operations of streams: copies, kernels, a trainer's reading. All functions are called with the
// driver's mutex held; the operations that they return run without it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "cuda/fake_driver/driver.h"

namespace echoline::cuda_test {

// At its start it overwrites the target, then fills it in parts, and at its end reads the source
// once more. So a reader or a writer that is too early shows as wrong bytes.
Operation copy_to_device(Driver& driver, DevicePointer to, const void* from, std::size_t bytes);

// A copy of pageable memory: of the bytes that it has now.
Operation copy_staged(Driver& driver, DevicePointer to, const void* from, std::size_t bytes);

Operation copy_on_device(Driver& driver, DevicePointer to, DevicePointer from, std::size_t bytes);

Operation copy_to_host(Driver& driver, void* to, DevicePointer from, std::size_t bytes);

// The operation of FakeCuda::read_on_stream.
Operation watch(Driver& driver, DevicePointer from, std::size_t bytes,
                std::chrono::microseconds time, std::optional<std::uint64_t> expected);

// A kernel of host_kernels.h with a copy of the structure at `parameters`. Its memory must be
// allocated in `context` when it runs, and its inputs must not change meanwhile.
Operation kernel(Driver& driver, std::shared_ptr<Context> context, const HostKernel& kernel,
                 const void* parameters);

// FNV-1a, 64 bits.
std::uint64_t checksum(const void* from, std::size_t bytes,
                       std::uint64_t before = 14695981039346656037U);

// Lets the time pass and compares `sum` several times: false if it was wrong once, no value if the
// context is lost.
std::optional<bool> stays(const std::function<std::uint64_t()>& sum, std::uint64_t wanted,
                          std::chrono::microseconds time, const Pause& pause);

inline constexpr int kSpoilt = 0xa5;  // fills memory that has no content yet

}  // namespace echoline::cuda_test
