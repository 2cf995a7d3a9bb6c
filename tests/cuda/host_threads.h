// Runs the code of the kernels on the host, one thread of the grid after the other.
#pragma once

#include <vector>

#include "cuda/driver_api.h"

namespace echoline::cuda_test {

struct Grid {
  unsigned blocks;   // along x
  unsigned rows;     // along y
  unsigned threads;  // of a block
};

// A driver with modules, functions and launches only. A launch runs at once, in the caller.
const client::cuda::DriverTable& host_threads();

// The launches since the last call.
std::vector<Grid> take_grids();

// From now on launch_kernel and module_load return that code; kSuccess: they work again.
void fail_host_threads(client::cuda::Code code);

}  // namespace echoline::cuda_test
