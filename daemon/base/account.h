// Whether this build keeps the account of time: the time of steps and stages, waits and their
// causes.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace echoline {

// False in builds with ECHOLINE_ACCOUNT=OFF, which only measure what the account costs.
#ifdef ECHOLINE_WITHOUT_ACCOUNT
inline constexpr bool kKeepsAccount = false;
#else
inline constexpr bool kKeepsAccount = true;
#endif

// The clock for what only the account measures.
inline std::uint64_t account_ns() { return kKeepsAccount ? monotonic_ns() : 0; }

}  // namespace echoline
