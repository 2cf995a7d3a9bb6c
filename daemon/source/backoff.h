// How long to wait before the next attempt: doubling, capped, jittered so that many don't come at
// once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/philox.h"

namespace echoline::source {

// Delay in ns after `failures` (at least 1) failed attempts: uniform in the upper half of the step.
inline std::uint64_t backoff_ns(std::uint32_t failures, std::uint64_t seed, std::uint32_t draw) {
  constexpr std::uint64_t kFirstNs = 100'000'000;
  constexpr std::uint64_t kMostNs = 5'000'000'000;
  const std::uint64_t step = std::min(kMostNs, kFirstNs << std::min(failures - 1, 16U));
  const std::uint32_t random = philox4x32(philox_key(seed), {draw, failures, 0, 0})[0];
  return step / 2 + (step / 2 >> 16) * (random >> 16);
}

}  // namespace echoline::source
