// Errors that functions answer because a test wants it. Not thread-safe: under the driver's mutex.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda/fake_driver/codes.h"

namespace echoline::cuda_test {

struct Fault {
  std::string function;  // "async": what completes on a stream
  Code code;
  int nth;      // call from when it was added that fails, from 1
  bool sticky;  // and all that follow
  int calls = 0;
};

struct Failure {
  Code code = client::cuda::kSuccess;
  bool sticky = false;
};

class Faults {
 public:
  void add(Fault fault) { faults_.push_back(std::move(fault)); }
  // Counts a call of `function`; what it is to answer.
  Failure next(std::string_view function);

 private:
  std::vector<Fault> faults_;
};

}  // namespace echoline::cuda_test
