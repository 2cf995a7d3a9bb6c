// The monotonic clock, in nanoseconds. Code whose decisions depend on time takes it as an argument,
// so that tests can set it.
#pragma once

#include <chrono>
#include <cstdint>

namespace echoline {

inline std::uint64_t monotonic_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

inline double to_seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace echoline
