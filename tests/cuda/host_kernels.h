// The kernels of client/src/cuda/kernel_params.h as plain loops on the host. The fake driver
// runs them, and a GPU's results are compared with theirs.
#pragma once

#include <span>

namespace echoline::cuda_test {

struct HostKernel {
  const char* name;
  // As for cuLaunchKernel: parameters[0] points to the kernel's structure.
  void (*run)(void** parameters);
};

std::span<const HostKernel> host_kernels();

}  // namespace echoline::cuda_test
