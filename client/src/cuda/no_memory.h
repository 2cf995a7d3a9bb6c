// The error for std::bad_alloc.
#pragma once

#include "system/error.h"

namespace echoline::client::cuda {

// Allocates nothing: the text fits into std::string itself.
inline Error no_memory() { return {ECHOLINE_RESOURCE_EXHAUSTED, "no memory"}; }

}  // namespace echoline::client::cuda
