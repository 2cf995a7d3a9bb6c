// Work on the trainer's stream of a length that is asked for: the library's own kernel that
// normalises photos, launched over and over on memory of its own.
#pragma once

#include <memory>

#include "cuda/kernels.h"
#include "bench/gpu/gpu.h"

namespace echoline::gpu {

class Work {
 public:
  // Each launch normalises `rows` photos of 224 x 224 x 3 to bfloat16 planes.
  Work(Gpu& gpu, std::uint32_t rows);

  // From now on so many launches as take `seconds`, one at least, by themselves.
  void last(double seconds);
  int launches() const { return launches_; }
  // What they take now, alone on the device.
  double alone();

  void enqueue() const;

 private:
  Gpu& gpu_;
  client::cuda::NormalizeParams params_{};
  int launches_ = 1;
  std::unique_ptr<client::cuda::Kernels> kernels_;
};

}  // namespace echoline::gpu
