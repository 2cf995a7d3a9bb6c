// Work of a given length on the trainer's stream: repeated launches of the library's kernel that
// normalises photos, on separate memory.
#pragma once

#include <memory>

#include "bench/gpu/gpu.h"
#include "cuda/kernels.h"

namespace echoline::gpu {

class Work {
 public:
  // Each launch normalises `rows` photos of 224 x 224 x 3 to bfloat16 planes.
  Work(Gpu& gpu, std::uint32_t rows);

  // Sets the number of launches to those that take `seconds` alone on the device, at least one.
  void last(double seconds);
  int launches() const { return launches_; }
  // The seconds that these launches take now, alone on the device.
  double alone();

  void enqueue() const;

 private:
  Gpu& gpu_;
  client::cuda::NormalizeParams params_{};
  int launches_ = 1;
  std::unique_ptr<client::cuda::Kernels> kernels_;
};

}  // namespace echoline::gpu
