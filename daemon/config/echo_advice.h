// What is advised where nobody has measured what repeats are worth for a training
// (docs/echoing.md).
#pragma once

#include <cstdint>

namespace echoline::config {

// The largest echo factor. For batches of up to about 1,000, repeats beyond 4 to 5 were not shown
// to be worth as much.
inline constexpr std::uint32_t kAdvisedFactor = 4;
// The window of the echo step.
inline constexpr std::uint64_t kAdvisedBatches = 32;

}  // namespace echoline::config
