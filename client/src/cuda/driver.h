// Loads the CUDA driver of this machine at run time and converts its errors.
#pragma once

#include <string_view>

#include "cuda/driver_api.h"
#include "system/error.h"

namespace echoline::client::cuda {

// The driver's functions. The first call loads and initialises it; all calls return the same. Any
// thread. UNAVAILABLE if there is no driver or it cannot be used; the text says which.
Error load_driver(const DriverTable*& driver);

// OK for kSuccess; else the text is "what: name (description)". DATA_LOSS for a lost or broken
// device, RESOURCE_EXHAUSTED for missing memory, UNAVAILABLE for a missing driver or device.
Error driver_error(const DriverTable& driver, Code code, std::string_view what);

}  // namespace echoline::client::cuda
