// Where a job stands: (epoch, row), in the one form in which states and messages carry it.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "plan/plan.h"

namespace echoline::plan {

// The next row that a job is to get.
struct Position {
  std::uint32_t epoch = 0;
  std::uint64_t row = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

// The end of an epoch of `rows` rows is the beginning of the next. kInvalidArgument for a row
// beyond it.
Result<Position> normalise(Position position, std::uint64_t rows);

// Where the next batch of a job begins: here, or at the next epoch's row 0 where no row is left, or
// under drop not enough of them. `position` is normalised.
Position next_batch(Position position, std::uint64_t rows, std::uint32_t batch_rows,
                    LastBatch last);

// The position after the batch that begins at `position`, as the state after it says it.
Position after_batch(Position position, std::uint64_t rows, std::uint32_t batch_rows,
                     LastBatch last);

}  // namespace echoline::plan
