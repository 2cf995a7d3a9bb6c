// A device that is this process: the very code of the kernels, compiled for the host, run thread
// by thread over the grid that the library asks for.
#pragma once

#include <vector>

#include "cuda/driver_api.h"

namespace echoline::cuda_test {

struct Grid {
  unsigned blocks;   // along x
  unsigned rows;     // along y
  unsigned threads;  // of a block
};

// Modules, functions and launches only. Launches run at once, in the caller.
const client::cuda::DriverTable& host_threads();

// Those launched since the last call.
std::vector<Grid> take_grids();

// What launch_kernel and module_load return from now on; kSuccess: they do their work.
void fail_host_threads(client::cuda::Code code);

}  // namespace echoline::cuda_test
