// The rate that a loader is compared with: a plain loop of copies from pinned memory.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/gpu/gpu.h"

namespace echoline::gpu {

// Batches of `bytes` in pinned host memory, copied in turn to as many buffers on the device.
class PinnedCopies {
 public:
  enum class Memory {
    kAllocated,   // allocated by the driver
    kRegistered,  // a registered mapping of a memfd, as a ring is
  };

  PinnedCopies(Gpu& gpu, Memory memory, std::size_t bytes);
  ~PinnedCopies();
  PinnedCopies(const PinnedCopies&) = delete;
  PinnedCopies& operator=(const PinnedCopies&) = delete;

  // Bytes a second over `copies` that are enqueued at once.
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
