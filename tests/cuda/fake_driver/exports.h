// The exports of libcuda.so.1; the compiler compares the definitions in this folder with them.
#pragma once

#include "cuda/driver_api.h"
#include "cuda/fake_driver/fake_cuda.h"
#include "cuda/more_driver_api.h"

namespace echoline::cuda_test {

using namespace client::cuda;  // NOLINT: the tables use its names

#define ECHOLINE_CUDA_EXPORT(member, symbol, parameters) \
  extern "C" __attribute__((visibility("default"))) Code symbol parameters;
ECHOLINE_CUDA_FUNCTIONS(ECHOLINE_CUDA_EXPORT)
ECHOLINE_CUDA_TEST_FUNCTIONS(ECHOLINE_CUDA_EXPORT)
#undef ECHOLINE_CUDA_EXPORT

#define ECHOLINE_FAKE_CUDA_EXPORT(member, result, parameters) \
  extern "C" __attribute__((visibility("default"))) result fake_cuda_##member parameters;
ECHOLINE_FAKE_CUDA_FUNCTIONS(ECHOLINE_FAKE_CUDA_EXPORT)
#undef ECHOLINE_FAKE_CUDA_EXPORT

}  // namespace echoline::cuda_test
