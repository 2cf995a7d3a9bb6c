#include "cuda/field_kernels.h"

#include <cstring>

namespace echoline::client::cuda {
namespace {

template <typename T>
T* as(DevicePointer pointer) {
  return reinterpret_cast<T*>(pointer);
}

}  // namespace

Error launch_field_kernel(const FieldPlan& plan, DevicePointer memory, std::uint32_t rows,
                          const std::uint8_t* flips, const Kernels& kernels, StreamHandle stream) {
  // Offsets are multiples of 256 bytes: as aligned as the kernels' fast paths need.
  const auto* input = as<const std::uint8_t>(memory + plan.input);
  switch (plan.transform) {
    case Transform::kNone:
      return {};
    case Transform::kNormalize: {
      NormalizeParams params{input,
                             as<void>(memory + plan.result),
                             flips,
                             rows,
                             plan.height,
                             plan.width,
                             plan.channels,
                             {},
                             {}};
      std::memcpy(params.scale, plan.scale, sizeof(params.scale));
      std::memcpy(params.shift, plan.shift, sizeof(params.shift));
      return kernels.normalize(params, static_cast<echoline_dtype>(plan.dtype),
                               plan.channels_first ? Layout::kChw : Layout::kHwc, stream);
    }
    case Transform::kFlip:
      return kernels.flip({input, as<std::uint8_t>(memory + plan.result), flips, rows, plan.height,
                           plan.width, plan.channels * plan.element_bytes},
                          stream);
    case Transform::kPad:
      return kernels.pad({input, as<const std::uint64_t>(memory + plan.offsets),
                          as<std::uint8_t>(memory + plan.result), plan.row_bytes, plan.fill,
                          plan.element_bytes, rows},
                         stream);
  }
  return {};
}

}  // namespace echoline::client::cuda
