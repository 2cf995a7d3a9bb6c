// The kernels of client/src/cuda/kernel_params.h as plain loops on the host: what the stand-in of
// the driver runs, and what a GPU's results are compared with.
#pragma once

#include <span>

namespace echoline::cuda_test {

struct HostKernel {
  const char* name;
  // As cuLaunchKernel has them: parameters[0] points at the kernel's structure.
  void (*run)(void** parameters);
};

std::span<const HostKernel> host_kernels();

}  // namespace echoline::cuda_test
