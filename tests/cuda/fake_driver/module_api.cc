// The driver's functions for modules and launches.
#include <cstring>

#include "cuda/fake_driver/call.h"
#include "cuda/fake_driver/device_work.h"
#include "cuda/fake_driver/exports.h"

namespace echoline::cuda_test {

// Ignores the image: the kernels are the host's loops.
Code cuModuleLoadData(ModuleHandle* handle, const void* image) {
  Call call(__func__, Call::kContextAndNoCapture);
  if (call.refused != kSuccess) return call.refused;
  if (image == nullptr) return kInvalidValue;
  ++call.driver.done.images;
  auto module = std::make_shared<std::weak_ptr<Context>>(call.context);
  *handle = reinterpret_cast<ModuleHandle>(call.driver.add(call.driver.modules, module));
  return kSuccess;
}

Code cuModuleUnload(ModuleHandle handle) {
  Call call(__func__, Call::kContextToRelease);
  if (call.refused != kSuccess) return call.refused;
  if (call.find(call.driver.modules, handle, "module") == nullptr) return kInvalidHandle;
  const auto module = reinterpret_cast<std::uintptr_t>(handle);
  call.driver.modules.erase(module);
  std::erase_if(call.driver.functions,
                [&](const auto& entry) { return entry.second->module == module; });
  return call.context->error;
}

Code cuModuleGetFunction(FunctionHandle* handle, ModuleHandle module, const char* name) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  if (call.find(call.driver.modules, module, "module") == nullptr) return kInvalidHandle;
  for (const HostKernel& kernel : host_kernels()) {
    if (std::strcmp(kernel.name, name) != 0) continue;
    auto function = std::make_shared<Function>();
    function->module = reinterpret_cast<std::uintptr_t>(module);
    function->kernel = &kernel;
    *handle = reinterpret_cast<FunctionHandle>(call.driver.add(call.driver.functions, function));
    return kSuccess;
  }
  return kNotFound;
}

Code cuLaunchKernel(FunctionHandle handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z,
                    [[maybe_unused]] unsigned shared_bytes, StreamHandle stream_handle,
                    void** parameters, void** extra) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  const auto function = call.find(call.driver.functions, handle, "function");
  const auto stream = call.stream(stream_handle);
  if (function == nullptr || stream == nullptr) return kInvalidHandle;
  if (stream->context != call.context) {
    return call.misuse("the stream is of another context", kInvalidHandle);
  }
  // The limits of all devices since compute capability 3.
  constexpr std::uint64_t kThreads = 1024;
  constexpr unsigned kGridY = 65535;
  const std::uint64_t threads = std::uint64_t{block_x} * block_y * block_z;
  const bool empty = grid_x == 0 || grid_y == 0 || grid_z == 0 || threads == 0;
  if (empty || threads > kThreads || block_z > 64 || grid_x > 2147483647U || grid_y > kGridY ||
      grid_z > kGridY) {
    return call.misuse("the grid or the block has a size that no device takes", kInvalidValue);
  }
  if (parameters == nullptr || extra != nullptr) return kInvalidValue;
  return call.enqueue(*stream,
                      kernel(call.driver, stream->context, *function->kernel, parameters[0]));
}

}  // namespace echoline::cuda_test
