// Waits for the end of a daemon that may also stop by itself: when no trainer has been attached for
// a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "serve/process/stop_signal.h"

namespace echoline::serve {

// Returns when a stop is requested, or when `connections` has been 0 for `limit_ns`; 0 means no
// limit. The limit also counts from the call on: trainers may never come.
void wait_for_stop_or_idle(StopSignal& stop, std::uint64_t limit_ns,
                           const std::function<std::size_t()>& connections);

}  // namespace echoline::serve
