// Work of a given duration on the trainer's stream: the library's kernel that normalises photos,
// launched again and again on separate memory.
#pragma once

#include <memory>

#include "bench/gpu/gpu.h"
#include "cuda/kernels.h"

namespace echoline::gpu {

class Work {
 public:
  // Each launch normalises `rows` photos of 224 x 224 x 3 to bfloat16 planes.
  Work(Gpu& gpu, std::uint32_t rows);

  // From now on as many launches as take `seconds` on an idle device; at least one.
  void last(double seconds);
  int launches() const { return launches_; }
  // Seconds that they take now on an idle device.
  double alone();

  void enqueue() const;

 private:
  Gpu& gpu_;
  client::cuda::NormalizeParams params_{};
  int launches_ = 1;
  std::unique_ptr<client::cuda::Kernels> kernels_;
};

}  // namespace echoline::gpu
