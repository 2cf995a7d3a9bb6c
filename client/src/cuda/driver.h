// The CUDA driver of this machine, found at run time, and its errors as the library's.
#pragma once

#include <string_view>

#include "cuda/driver_api.h"
#include "system/error.h"

namespace echoline::client::cuda {

// The driver's functions; loaded and initialised by the first call, then the same for ever. Any
// thread. UNAVAILABLE where there is no driver, or none that can be used: the text says which.
Error load_driver(const DriverTable*& driver);

// OK for kSuccess; else "what: name (description)". A device that is lost or broken is DATA_LOSS,
// memory that is not there RESOURCE_EXHAUSTED, no driver or device UNAVAILABLE.
Error driver_error(const DriverTable& driver, Code code, std::string_view what);

}  // namespace echoline::client::cuda
