// A plain loop of copies from pinned memory; loaders are compared with its rate.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/gpu/gpu.h"

namespace echoline::gpu {

// Batches of `bytes` in pinned host memory, and as many buffers on the device; copied in turn.
class PinnedCopies {
 public:
  enum class Memory {
    kAllocated,   // by the driver
    kRegistered,  // a registered mapping of a memfd, as a ring is
  };

  PinnedCopies(Gpu& gpu, Memory memory, std::size_t bytes);
  ~PinnedCopies();
  PinnedCopies(const PinnedCopies&) = delete;
  PinnedCopies& operator=(const PinnedCopies&) = delete;

  // Bytes per second over `copies` that are enqueued together.
  double rate(int copies);

 private:
  static constexpr int kBatches = 4;

  void allocate();
  void register_mapping();
  std::byte* batch(int i) const { return host_ + bytes_ * (i % kBatches); }

  Gpu& gpu_;
  Memory memory_;
  std::size_t bytes_;
  std::byte* host_ = nullptr;
  std::vector<client::cuda::DevicePointer> device_;
};

}  // namespace echoline::gpu
