// Whether the system allows the threads that the daemon needs.
#pragma once

#include <cstddef>

#include "base/status.h"

namespace echoline::serve {

// Starts so many threads for a moment. kResourceExhausted, with the limits that there are, if there
// cannot be as many. Call it before a library that would wait for a thread forever.
Status check_threads(std::size_t count);

}  // namespace echoline::serve
