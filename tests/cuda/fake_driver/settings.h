// Settings of the device. From the environment, with the defaults:
//   FAKE_CUDA_DEVICES=2                  1
//   FAKE_CUDA_MEMORY=1048576             bytes of each device; 1 GiB
//   FAKE_CUDA_READ_ONLY_REGISTER=0       device attribute 113; 1
//   FAKE_CUDA_DELAY_US=0-2000            of copies and kernels, drawn for each; 0-200
//   FAKE_CUDA_SEED=7                     of the draws; 1
//   FAKE_CUDA_FAIL=cuMemAlloc_v2:2:3,async:700:5,cuEventRecord:214:9+
//                                        function, code, nth call; +: sticky (fake_cuda.h)
// A value that cannot be read ends the process with a line on standard error.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/fake_driver/faults.h"

namespace echoline::cuda_test {

struct Settings {
  int devices = 1;
  std::uint64_t memory = std::uint64_t{1} << 30;
  bool read_only_register = true;
  unsigned delay_min_us = 0;
  unsigned delay_max_us = 200;
  std::uint64_t seed = 1;
  std::vector<Fault> faults;

  static Settings from_environment();
};

}  // namespace echoline::cuda_test
