// Where a job stands: (epoch, row), in the one form in which states and messages carry it.
#pragma once

#include <compare>
#include <cstdint>

#include "base/status.h"

namespace echoline::plan {

// No stream comes so far; what claims to be further is a mistake, or meant to do harm.
inline constexpr std::uint32_t kEpochsMax = 1U << 31;

// The next row that a job is to get.
struct Position {
  std::uint32_t epoch = 0;
  std::uint64_t row = 0;

  auto operator<=>(const Position&) const = default;
};

// The end of an epoch of `rows` rows is the beginning of the next. kInvalidArgument for a row
// beyond it, and for an epoch from kEpochsMax on.
Result<Position> normalise(Position position, std::uint64_t rows);

}  // namespace echoline::plan
