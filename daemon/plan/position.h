// The position of a job: (epoch, row), in the one form that states and messages use.
#pragma once

#include <compare>
#include <cstdint>

#include "base/status.h"

namespace echoline::plan {

// No stream reaches this epoch; a position beyond it is a mistake or an attack.
inline constexpr std::uint32_t kEpochsMax = 1U << 31;

// The next row that a job gets.
struct Position {
  std::uint32_t epoch = 0;
  std::uint64_t row = 0;

  auto operator<=>(const Position&) const = default;
};

// Replaces the end of an epoch of `rows` rows by the beginning of the next epoch. kInvalidArgument
// for a row beyond the end, and for an epoch of kEpochsMax or more.
Result<Position> normalise(Position position, std::uint64_t rows);

}  // namespace echoline::plan
