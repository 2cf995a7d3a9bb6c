// Measures the link between host and device: plain loops of copies from memory that the driver
// allocated, and from shared memory that is registered. Prints rates; has no goals.
//   copy_rate [--rounds 11] [--copies 32] [--device 0]
#include <cstdio>

#include "bench/gpu/pinned_copies.h"

namespace echoline::gpu {
namespace {

constexpr std::size_t kSizes[] = {1 << 20, 4 << 20, 16 << 20, 256 * 224 * 224 * 3};

void print(Gpu& gpu, std::size_t bytes, int copies, long rounds) {
  PinnedCopies allocated(gpu, PinnedCopies::Memory::kAllocated, bytes);
  PinnedCopies registered(gpu, PinnedCopies::Memory::kRegistered, bytes);
  std::vector<double> first;
  std::vector<double> second;
  allocated.rate(copies);  // warms up
  registered.rate(copies);
  for (long round = 0; round < rounds; ++round) {
    first.push_back(allocated.rate(copies));
    second.push_back(registered.rate(copies));
  }
  std::printf("%10.1f %16.2f %16.2f\n", static_cast<double>(bytes) / 1e6, median(first) / 1e9,
              median(second) / 1e9);
}

}  // namespace
}  // namespace echoline::gpu

int main(int count, char** arguments) {
  using namespace echoline::gpu;
  Gpu gpu(static_cast<int>(option(count, arguments, "device", 0)));
  std::printf("%s\n%10s %16s %16s\n", gpu.name().c_str(), "MB a copy", "allocated GB/s",
              "registered GB/s");
  for (const std::size_t bytes : kSizes) {
    print(gpu, bytes, static_cast<int>(option(count, arguments, "copies", 32)),
          option(count, arguments, "rounds", 11));
  }
  return 0;
}
