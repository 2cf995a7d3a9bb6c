// What streams do: copies, kernels, a trainer's reading. All are called under the driver's mutex
// and give operations that run without it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "cuda/fake_driver/driver.h"

namespace echoline::cuda_test {

// From the start on the target is spoilt, during the copy it fills, and at its end all is read
// once more: a reader that comes early and a writer that comes early both show as wrong bytes.
Operation copy_to_device(Driver& driver, DevicePointer to, const void* from, std::size_t bytes);

// Of pageable memory: its bytes of now.
Operation copy_staged(Driver& driver, DevicePointer to, const void* from, std::size_t bytes);

Operation copy_on_device(Driver& driver, DevicePointer to, DevicePointer from, std::size_t bytes);

Operation copy_to_host(Driver& driver, void* to, DevicePointer from, std::size_t bytes);

// As FakeCuda::read_on_stream.
Operation watch(Driver& driver, DevicePointer from, std::size_t bytes,
                std::chrono::microseconds time, std::optional<std::uint64_t> expected);

// A kernel of host_kernels.h with the structure at `parameters` as it is now. Its ranges must be
// allocated in `context` when it runs, its inputs may not change while it does.
Operation kernel(Driver& driver, std::shared_ptr<Context> context, const HostKernel& kernel,
                 const void* parameters);

// FNV-1a, 64 bits.
std::uint64_t checksum(const void* from, std::size_t bytes,
                       std::uint64_t before = 14695981039346656037U);

// Lets the time pass and looks several times whether `sum` is as wanted: false once it was not; no
// value: the context is lost.
std::optional<bool> stays(const std::function<std::uint64_t()>& sum, std::uint64_t wanted,
                          std::chrono::microseconds time, const Pause& pause);

inline constexpr int kSpoilt = 0xa5;  // what memory is filled with that has no content yet

}  // namespace echoline::cuda_test
