// Functions of the driver that only tests call.
#pragma once

#include <dlfcn.h>

#include "cuda/driver_api.h"

namespace echoline::cuda_test {

inline constexpr unsigned kEventDisableTiming = 2;

#define ECHOLINE_CUDA_TEST_FUNCTIONS(X)                                                   \
  X(copy_to_host, cuMemcpyDtoHAsync_v2,                                                   \
    (void* to, client::cuda::DevicePointer from, std::size_t bytes,                       \
     client::cuda::StreamHandle stream))                                                  \
  X(copy_on_device, cuMemcpyDtoDAsync_v2,                                                 \
    (client::cuda::DevicePointer to, client::cuda::DevicePointer from, std::size_t bytes, \
     client::cuda::StreamHandle stream))                                                  \
  X(stream_synchronize, cuStreamSynchronize, (client::cuda::StreamHandle stream))         \
  X(context_synchronize, cuCtxSynchronize, ())                                            \
  X(context_current, cuCtxGetCurrent, (client::cuda::ContextHandle * context))

struct MoreDriver {
#define ECHOLINE_CUDA_TEST_MEMBER(member, symbol, parameters) \
  client::cuda::Code(*member) parameters = nullptr;
  ECHOLINE_CUDA_TEST_FUNCTIONS(ECHOLINE_CUDA_TEST_MEMBER)
#undef ECHOLINE_CUDA_TEST_MEMBER

  // Null if there is no driver.
  static const MoreDriver* find() {
    static MoreDriver driver;
    static const bool found = [] {
      void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) return false;
#define ECHOLINE_CUDA_TEST_FIND(member, symbol, parameters)                           \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(library, #symbol)); \
  if (driver.member == nullptr) return false;
      ECHOLINE_CUDA_TEST_FUNCTIONS(ECHOLINE_CUDA_TEST_FIND)
#undef ECHOLINE_CUDA_TEST_FIND
      return true;
    }();
    return found ? &driver : nullptr;
  }
};

}  // namespace echoline::cuda_test
