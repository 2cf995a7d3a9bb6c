#include "cuda/fake_driver/faults.h"

namespace echoline::cuda_test {

Failure Faults::next(std::string_view function) {
  Failure failure;
  for (Fault& fault : faults_) {
    if (fault.function != function) continue;
    ++fault.calls;
    const bool hit = fault.sticky ? fault.calls >= fault.nth : fault.calls == fault.nth;
    if (hit) failure = {fault.code, fault.sticky};
  }
  return failure;
}

}  // namespace echoline::cuda_test
