// Failures that a test injects. Not thread-safe: guarded by the driver's mutex.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda/fake_driver/codes.h"

namespace echoline::cuda_test {

struct Fault {
  std::string function;  // "async": work that completes on a stream
  Code code;
  int nth;      // the call that fails, counted from 1 when it was added
  bool sticky;  // and all calls after it
  int calls = 0;
};

struct Failure {
  Code code = client::cuda::kSuccess;
  bool sticky = false;
};

class Faults {
 public:
  void add(Fault fault) { faults_.push_back(std::move(fault)); }
  // Counts a call of `function` and returns what it must return.
  Failure next(std::string_view function);

 private:
  std::vector<Fault> faults_;
};

}  // namespace echoline::cuda_test
