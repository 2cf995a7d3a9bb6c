// Names of the driver's interface for this folder, and codes that only the fake driver returns.
#pragma once

#include "cuda/driver_api.h"

namespace echoline::cuda_test {

using client::cuda::Code;
using client::cuda::ContextHandle;
using client::cuda::DeviceId;
using client::cuda::DevicePointer;
using client::cuda::EventHandle;
using client::cuda::FunctionHandle;
using client::cuda::ModuleHandle;
using client::cuda::StreamHandle;

using client::cuda::kDeinitialized;
using client::cuda::kHostMemoryAlreadyRegistered;
using client::cuda::kInvalidDevice;
using client::cuda::kInvalidHandle;
using client::cuda::kInvalidValue;
using client::cuda::kNoDevice;
using client::cuda::kNotInitialized;
using client::cuda::kNotReady;
using client::cuda::kNotSupported;
using client::cuda::kOutOfMemory;
using client::cuda::kStreamCaptureUnsupported;
using client::cuda::kSuccess;

inline constexpr Code kInvalidContext = 201;
inline constexpr Code kEccUncorrectable = 214;
inline constexpr Code kNotFound = 500;
inline constexpr Code kIllegalAddress = 700;
inline constexpr Code kContextIsDestroyed = 709;
inline constexpr Code kHostMemoryNotRegistered = 713;
inline constexpr Code kStreamCaptureIsolation = 905;
inline constexpr Code kUnknown = 999;

}  // namespace echoline::cuda_test
