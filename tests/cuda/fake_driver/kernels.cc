// Kernels on a stream: runs the plain loops of host_kernels.h and checks the memory that they use.
#include <array>
#include <cstring>
#include <string_view>

#include "cuda/fake_driver/device_work.h"
#include "cuda/kernel_params.h"

namespace echoline::cuda_test {
namespace {

using client::cuda::FlipParams;
using client::cuda::NormalizeParams;
using client::cuda::PadParams;

struct Range {
  std::uintptr_t begin;
  std::size_t bytes;
};
template <typename Element>
Range range(const Element* begin, std::size_t bytes) {
  return {reinterpret_cast<std::uintptr_t>(begin), begin != nullptr ? bytes : 0};
}

struct Touched {
  std::vector<Range> inputs;
  Range output;
};

union Parameters {
  NormalizeParams normalize;
  FlipParams flip;
  PadParams pad;
};

struct Launch {
  const HostKernel& kernel;
  Parameters parameters;
};

bool is_normalize(std::string_view name) { return name.starts_with("echoline_normalize_"); }

Parameters read_parameters(std::string_view name, const void* from) {
  Parameters parameters{};
  if (is_normalize(name)) std::memcpy(&parameters.normalize, from, sizeof parameters.normalize);
  if (name == "echoline_flip") std::memcpy(&parameters.flip, from, sizeof parameters.flip);
  if (name == "echoline_pad") std::memcpy(&parameters.pad, from, sizeof parameters.pad);
  return parameters;
}

// False if a range is not allocated.
bool all_held(const Context& context, const std::vector<Range>& ranges) {
  for (const Range& each : ranges) {
    if (each.bytes > 0 && holding(context.memory, each.begin, each.bytes) == nullptr) return false;
  }
  return true;
}

Touched touched_by(std::string_view name, const Parameters& parameters) {
  if (name == "echoline_flip") {
    const FlipParams& p = parameters.flip;
    const std::size_t bytes = std::size_t{p.rows} * p.height * p.width * p.pixel_bytes;
    return {{range(p.pixels, bytes), range(p.flips, p.rows)}, range(p.out, bytes)};
  }
  const NormalizeParams& p = parameters.normalize;
  const std::size_t pixels = std::size_t{p.rows} * p.height * p.width * p.channels;
  const std::size_t element = name.find("_f32_") != name.npos ? 4 : 2;
  return {{range(p.pixels, pixels), range(p.flips, p.rows)},
          range(static_cast<const std::uint8_t*>(p.out), pixels * element)};
}

// The length of `values` is in device memory.
Touched touched_by_pad(const Context& context, const PadParams& p) {
  const Range offsets = range(p.offsets, (std::size_t{p.rows} + 1) * sizeof *p.offsets);
  const bool held = all_held(context, {offsets});
  const std::size_t bytes = held ? p.offsets[p.rows] - p.offsets[0] : 0;
  return {{offsets, range(p.values, bytes)}, range(p.out, p.rows * p.row_bytes)};
}

std::uint64_t checksum_of(const std::vector<Range>& ranges) {
  std::uint64_t sum = 0;
  for (const Range& each : ranges) {
    sum = checksum(reinterpret_cast<const void*>(each.begin), each.bytes, sum);
  }
  return sum;
}

Code run(Driver& driver, const Context& context, Launch& launch, std::chrono::microseconds time,
         const Pause& pause) {
  const std::string_view name = launch.kernel.name;
  std::unique_lock lock(driver.mutex);
  const Touched touched = name == "echoline_pad" ? touched_by_pad(context, launch.parameters.pad)
                                                 : touched_by(name, launch.parameters);
  if (!all_held(context, touched.inputs) || !all_held(context, {touched.output})) {
    driver.misuse(std::string(name) + ": reads or writes what is not allocated");
    return kIllegalAddress;
  }
  lock.unlock();
  const auto sum = [&] { return checksum_of(touched.inputs); };
  const std::uint64_t before = sum();
  std::memset(reinterpret_cast<void*>(touched.output.begin), kSpoilt, touched.output.bytes);
  const std::optional<bool> kept = stays(sum, before, time, pause);
  if (!kept.has_value()) return kSuccess;
  void* parameters[] = {&launch.parameters};
  launch.kernel.run(parameters);
  lock.lock();
  if (!*kept) driver.misuse(std::string(name) + ": its input changed while it ran");
  ++driver.done.kernels;
  return kSuccess;
}

}  // namespace

Operation kernel(Driver& driver, std::shared_ptr<Context> context, const HostKernel& kernel,
                 const void* parameters) {
  Operation operation;
  operation.run = [&driver, context = std::move(context), time = driver.draw_delay(),
                   launch = Launch{kernel, read_parameters(kernel.name, parameters)}](
                      const Pause& pause) mutable {
    return run(driver, *context, launch, time, pause);
  };
  return operation;
}

}  // namespace echoline::cuda_test
