// The kernel that a field of a batch needs, with its parameters.
#pragma once

#include <cstdint>

#include "cuda/batch_layout.h"
#include "cuda/kernels.h"

namespace echoline::client::cuda {

// Puts it on the stream; nothing for a field that is only copied. `memory`: of the batch, laid out
// as the plan says. `flips`: one byte a row; null: no row is mirrored.
Error launch_field_kernel(const FieldPlan& plan, DevicePointer memory, std::uint32_t rows,
                          const std::uint8_t* flips, const Kernels& kernels, StreamHandle stream);

}  // namespace echoline::client::cuda
