// Options of a device loader; see echoline_cuda_options for their meaning.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/batch_layout.h"

namespace echoline::client::cuda {

struct Options {
  int device = 0;
  std::uint32_t depth = 3;
  std::uint32_t echo_factor = 1;
  std::uint32_t echo_window = 1;
  std::vector<FieldOptions> fields = {};
};

}  // namespace echoline::client::cuda
