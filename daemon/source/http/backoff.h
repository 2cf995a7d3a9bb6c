// The delay before the next attempt: doubling, capped, and with jitter, so that many operations do
// not retry at the same time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "echoline/shm/philox.h"

namespace echoline::source {

inline constexpr std::uint64_t kBackoffFirstNs = 100'000'000;
// Short, so that a store that is back gets all its requests within seconds.
inline constexpr std::uint64_t kBackoffMaxNs = 3'000'000'000;

// Delay in ns after `failures` (at least 1) failed attempts: uniform in the upper half of the step.
inline std::uint64_t backoff_ns(std::uint32_t failures, std::uint64_t seed, std::uint32_t draw) {
  const std::uint64_t step =
      std::min(kBackoffMaxNs, kBackoffFirstNs << std::min(failures - 1, 16U));
  const std::uint32_t random = philox4x32(philox_key(seed), {draw, failures, 0, 0})[0];
  return step / 2 + (step / 2 >> 16) * (random >> 16);
}

}  // namespace echoline::source
