// The driver's functions for error names, devices and contexts.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cuda/fake_driver/call.h"
#include "cuda/fake_driver/exports.h"

namespace echoline::cuda_test {
namespace {

struct ErrorText {
  Code code;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrors[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kDeinitialized, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image for the device"},
    {kEccUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {kContextIsDestroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {kHostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {kHostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {kNotPermitted, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {kStreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {kStreamCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {kUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText* error_text(Code code) {
  const auto* found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                   [&](const ErrorText& error) { return error.code == code; });
  return found == std::end(kErrors) ? nullptr : found;
}

// Not a context that another thread is just destroying with its last release.
std::shared_ptr<Context> primary(const Call& call, DeviceId device) {
  for (const auto& [handle, context] : call.driver.contexts) {
    if (context->device == device && context->alive) return context;
  }
  return nullptr;
}

bool has(const Call& call, DeviceId device) {
  return device >= 0 && device < call.driver.settings.devices;
}

}  // namespace

Code cuInit(unsigned flags) {
  Call call(__func__, Call::kNothing);
  if (call.refused != kSuccess) return call.refused;
  if (flags != 0) return kInvalidValue;
  if (call.driver.settings.devices == 0) return kNoDevice;
  call.driver.initialised_in = ::getpid();
  return kSuccess;
}

Code cuGetErrorName(Code code, const char** name) {
  const ErrorText* error = error_text(code);
  *name = error != nullptr ? error->name : nullptr;
  return error != nullptr ? kSuccess : kInvalidValue;
}

Code cuGetErrorString(Code code, const char** text) {
  const ErrorText* error = error_text(code);
  *text = error != nullptr ? error->text : nullptr;
  return error != nullptr ? kSuccess : kInvalidValue;
}

Code cuDeviceGetCount(int* count) {
  Call call(__func__, Call::kInitialised);
  if (call.refused == kSuccess) *count = call.driver.settings.devices;
  return call.refused;
}

Code cuDeviceGet(DeviceId* device, int ordinal) {
  Call call(__func__, Call::kInitialised);
  if (call.refused != kSuccess) return call.refused;
  if (!has(call, ordinal)) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

Code cuDeviceGetName(char* name, int length, DeviceId device) {
  Call call(__func__, Call::kInitialised);
  if (call.refused != kSuccess) return call.refused;
  if (!has(call, device)) return kInvalidDevice;
  if (length <= 0) return kInvalidValue;
  name[0] = '\0';
  std::strncat(name, "Stand-in of a GPU", static_cast<std::size_t>(length) - 1);
  return kSuccess;
}

Code cuDeviceGetAttribute(int* value, int attribute, DeviceId device) {
  Call call(__func__, Call::kInitialised);
  if (call.refused != kSuccess) return call.refused;
  if (!has(call, device)) return kInvalidDevice;
  switch (attribute) {
    case 16:  // multiprocessors
      *value = 4;
      return kSuccess;
    case 75:  // compute capability, major
      *value = 9;
      return kSuccess;
    case 76:  // minor
      *value = 0;
      return kSuccess;
    case kAttributeReadOnlyHostRegister:
      *value = call.driver.settings.read_only_register ? 1 : 0;
      return kSuccess;
    default:
      return call.misuse("no attribute of the stand-in: " + std::to_string(attribute),
                         kInvalidValue);
  }
}

Code cuDevicePrimaryCtxRetain(ContextHandle* handle, DeviceId device) {
  Call call(__func__, Call::kInitialised);
  if (call.refused != kSuccess) return call.refused;
  if (!has(call, device)) return kInvalidDevice;
  auto context = primary(call, device);
  if (context == nullptr) {
    context = std::make_shared<Context>();
    context->device = device;
    call.driver.add(call.driver.contexts, context);
  }
  ++context->retains;
  for (const auto& [id, each] : call.driver.contexts) {
    if (each == context) *handle = reinterpret_cast<ContextHandle>(id);
  }
  return kSuccess;
}

Code cuDevicePrimaryCtxRelease_v2(DeviceId device) {
  Call call(__func__, Call::kInitialised);
  if (call.refused != kSuccess) return call.refused;
  if (!has(call, device)) return kInvalidDevice;
  const auto context = primary(call, device);
  if (context == nullptr) return call.misuse("released more often than retained", kInvalidContext);
  if (--context->retains > 0) return kSuccess;
  const std::size_t pieces = context->memory.size();
  if (pieces > 0) {
    call.misuse("the last release leaves " + std::to_string(pieces) + " pieces of memory",
                kSuccess);
  }
  call.driver.destroy(context, call.lock);
  return kSuccess;
}

Code cuCtxPushCurrent_v2(ContextHandle handle) {
  Call call(__func__, Call::kInitialised);
  if (call.refused != kSuccess) return call.refused;
  if (call.find(call.driver.contexts, handle, "context") == nullptr) return kInvalidContext;
  ThreadState& state = thread_state();
  if (state.depth == ThreadState::kDepth) {
    return call.misuse("pushed and never popped", kInvalidContext);
  }
  state.contexts[state.depth++] = reinterpret_cast<std::uintptr_t>(handle);
  return kSuccess;
}

Code cuCtxPopCurrent_v2(ContextHandle* handle) {
  Call call(__func__, Call::kInitialised);
  if (call.refused != kSuccess) return call.refused;
  ThreadState& state = thread_state();
  if (state.depth == 0) return call.misuse("no context is current", kInvalidContext);
  const std::uintptr_t popped = state.contexts[--state.depth];
  if (handle != nullptr) *handle = reinterpret_cast<ContextHandle>(popped);
  return kSuccess;
}

Code cuCtxGetCurrent(ContextHandle* handle) {
  Call call(__func__, Call::kInitialised);
  if (call.refused != kSuccess) return call.refused;
  const ThreadState& state = thread_state();
  const std::uintptr_t current = state.depth > 0 ? state.contexts[state.depth - 1] : 0;
  *handle = reinterpret_cast<ContextHandle>(current);
  return kSuccess;
}

Code cuCtxSynchronize() {
  Call call(__func__, Call::kContextAndNoCapture);
  return call.refused != kSuccess ? call.refused : call.wait_for_all();
}

}  // namespace echoline::cuda_test
