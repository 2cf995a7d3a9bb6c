// The kernels by the names that kernel_params.h gives: a thread per unit of a row, rows along the
// grid's y and, where they are more than a grid has, in turns.
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

// work(row, unit) for the rows and the unit of this thread.
template <typename Work>
__device__ void for_each_row(std::uint32_t rows, std::uint64_t units, Work work) {
  const std::uint64_t unit = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (unit >= units) return;
  for (std::uint32_t row = blockIdx.y; row < rows; row += gridDim.y) work(row, unit);
}

template <typename Element, Layout layout>
__device__ void normalize(const NormalizeParams& p) {
  for_each_row(p.rows, normalize_units(p, layout, sizeof(typename Element::Bits)),
               [&](std::uint32_t row, std::uint64_t unit) {
                 normalize_unit<Element, layout>(p, row, static_cast<std::uint32_t>(unit));
               });
}

}  // namespace

#define ECHOLINE_NORMALIZE(name, Element, layout)                            \
  extern "C" __global__ void __launch_bounds__(256)                          \
      echoline_normalize_##name(const __grid_constant__ NormalizeParams p) { \
    normalize<Element, layout>(p);                                           \
  }
ECHOLINE_NORMALIZE(f32_chw, Float32, Layout::kChw)
ECHOLINE_NORMALIZE(f32_hwc, Float32, Layout::kHwc)
ECHOLINE_NORMALIZE(f16_chw, Float16, Layout::kChw)
ECHOLINE_NORMALIZE(f16_hwc, Float16, Layout::kHwc)
ECHOLINE_NORMALIZE(bf16_chw, BFloat16, Layout::kChw)
ECHOLINE_NORMALIZE(bf16_hwc, BFloat16, Layout::kHwc)

extern "C" __global__ void __launch_bounds__(256)
    echoline_flip(const __grid_constant__ FlipParams p) {
  for_each_row(p.rows, flip_units(p), [&](std::uint32_t row, std::uint64_t unit) {
    flip_unit(p, row, static_cast<std::uint32_t>(unit));
  });
}

extern "C" __global__ void __launch_bounds__(256)
    echoline_pad(const __grid_constant__ PadParams p) {
  for_each_row(p.rows, pad_units(p),
               [&](std::uint32_t row, std::uint64_t unit) { pad_unit(p, row, unit); });
}

}  // namespace echoline::client::cuda
