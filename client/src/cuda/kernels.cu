// The kernels, with the names that kernel_params.h defines.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cuda/flip_kernel.h"
#include "cuda/normalize_kernel.h"
#include "cuda/pad_kernel.h"

namespace echoline::client::cuda {
namespace {

struct Float32 {
  using Bits = float;
  static __device__ Bits round(float value) { return value; }
};

struct Float16 {
  using Bits = unsigned short;
  static __device__ Bits round(float value) { return __half_as_ushort(__float2half_rn(value)); }
};

struct BFloat16 {
  using Bits = unsigned short;
  static __device__ Bits round(float value) {
    return __bfloat16_as_ushort(__float2bfloat16_rn(value));
  }
};

__device__ Thread this_thread() {
  return {std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, blockIdx.y, gridDim.y};
}

}  // namespace

#define ECHOLINE_NORMALIZE(name, Element, layout)                            \
  extern "C" __global__ void __launch_bounds__(kThreadsMax)                  \
      echoline_normalize_##name(const __grid_constant__ NormalizeParams p) { \
    normalize<Element, layout>(p, this_thread());                            \
  }
ECHOLINE_NORMALIZE(f32_chw, Float32, Layout::kChw)
ECHOLINE_NORMALIZE(f32_hwc, Float32, Layout::kHwc)
ECHOLINE_NORMALIZE(f16_chw, Float16, Layout::kChw)
ECHOLINE_NORMALIZE(f16_hwc, Float16, Layout::kHwc)
ECHOLINE_NORMALIZE(bf16_chw, BFloat16, Layout::kChw)
ECHOLINE_NORMALIZE(bf16_hwc, BFloat16, Layout::kHwc)

extern "C" __global__ void __launch_bounds__(kThreadsMax)
    echoline_flip(const __grid_constant__ FlipParams p) {
  flip(p, this_thread());
}

extern "C" __global__ void __launch_bounds__(kThreadsMax)
    echoline_pad(const __grid_constant__ PadParams p) {
  pad(p, this_thread());
}

}  // namespace echoline::client::cuda
