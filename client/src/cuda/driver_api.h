// The library's own declarations of the driver functions that it calls, so that it builds without
// CUDA. Source: CUDA Driver API reference, 11.1 and later. If cuda.h is installed, a test compares
// every name, type and number with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::client::cuda {

using Code = int;  // CUresult
using DevicePointer = unsigned long long;
using DeviceId = int;
using ContextHandle = struct CUctx_st*;
using StreamHandle = struct CUstream_st*;
using EventHandle = struct CUevent_st*;
using ModuleHandle = struct CUmod_st*;
using FunctionHandle = struct CUfunc_st*;

enum : Code {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kNoBinaryForGpu = 209,
  kInvalidHandle = 400,
  kNotReady = 600,
  kHostMemoryAlreadyRegistered = 712,
  kNotPermitted = 800,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,  // the first of the codes about captures
  kStreamCaptureWrongThread = 908,  // the last
};

inline constexpr unsigned kStreamNonBlocking = 1;
// CU_STREAM_PER_THREAD
inline const StreamHandle kStreamPerThread = reinterpret_cast<StreamHandle>(2);
inline constexpr unsigned kEventBlockingSync = 1;
inline constexpr unsigned kHostRegisterPortable = 1;
inline constexpr unsigned kHostRegisterReadOnly = 8;
inline constexpr unsigned kHostAllocPortable = 1;
inline constexpr int kAttributeReadOnlyHostRegister = 113;
inline constexpr int kCaptureRelaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED
inline constexpr int kCaptureNone = 0;     // CU_STREAM_CAPTURE_STATUS_NONE

// X(member, symbol, parameters) for each function; all return a Code.
#define ECHOLINE_CUDA_FUNCTIONS(X)                                                                 \
  X(init, cuInit, (unsigned flags))                                                                \
  X(error_name, cuGetErrorName, (Code code, const char** name))                                    \
  X(error_string, cuGetErrorString, (Code code, const char** text))                                \
  X(device_count, cuDeviceGetCount, (int* count))                                                  \
  X(device_get, cuDeviceGet, (DeviceId * device, int ordinal))                                     \
  X(device_name, cuDeviceGetName, (char* name, int length, DeviceId device))                       \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, DeviceId device))          \
  X(context_retain, cuDevicePrimaryCtxRetain, (ContextHandle * context, DeviceId device))          \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (DeviceId device))                              \
  X(context_push, cuCtxPushCurrent_v2, (ContextHandle context))                                    \
  X(context_pop, cuCtxPopCurrent_v2, (ContextHandle * context))                                    \
  X(host_register, cuMemHostRegister_v2, (void* begin, std::size_t bytes, unsigned flags))         \
  X(host_unregister, cuMemHostUnregister, (void* begin))                                           \
  X(host_alloc, cuMemHostAlloc, (void** memory, std::size_t bytes, unsigned flags))                \
  X(host_free, cuMemFreeHost, (void* memory))                                                      \
  X(mem_alloc, cuMemAlloc_v2, (DevicePointer * memory, std::size_t bytes))                         \
  X(mem_free, cuMemFree_v2, (DevicePointer memory))                                                \
  X(copy_to_device, cuMemcpyHtoDAsync_v2,                                                          \
    (DevicePointer to, const void* from, std::size_t bytes, StreamHandle stream))                  \
  X(stream_create, cuStreamCreate, (StreamHandle * stream, unsigned flags))                        \
  X(stream_destroy, cuStreamDestroy_v2, (StreamHandle stream))                                     \
  X(stream_synchronize, cuStreamSynchronize, (StreamHandle stream))                                \
  X(stream_wait_event, cuStreamWaitEvent,                                                          \
    (StreamHandle stream, EventHandle event, unsigned flags))                                      \
  X(stream_is_capturing, cuStreamIsCapturing, (StreamHandle stream, int* status))                  \
  X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode, (int* mode))                         \
  X(event_create, cuEventCreate, (EventHandle * event, unsigned flags))                            \
  X(event_destroy, cuEventDestroy_v2, (EventHandle event))                                         \
  X(event_record, cuEventRecord, (EventHandle event, StreamHandle stream))                         \
  X(event_query, cuEventQuery, (EventHandle event))                                                \
  X(event_synchronize, cuEventSynchronize, (EventHandle event))                                    \
  X(event_elapsed, cuEventElapsedTime, (float* milliseconds, EventHandle begin, EventHandle end))  \
  X(module_load, cuModuleLoadData, (ModuleHandle * module, const void* image))                     \
  X(module_unload, cuModuleUnload, (ModuleHandle module))                                          \
  X(module_function, cuModuleGetFunction,                                                          \
    (FunctionHandle * function, ModuleHandle module, const char* name))                            \
  X(launch_kernel, cuLaunchKernel,                                                                 \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamHandle stream,               \
     void** parameters, void** extra))

struct DriverTable {
#define ECHOLINE_CUDA_MEMBER(member, symbol, parameters) Code(*member) parameters = nullptr;
  ECHOLINE_CUDA_FUNCTIONS(ECHOLINE_CUDA_MEMBER)
#undef ECHOLINE_CUDA_MEMBER
};

}  // namespace echoline::client::cuda
