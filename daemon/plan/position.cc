// Positions over the border of an epoch.
#include "plan/position.h"

#include <algorithm>
#include <string>

namespace echoline::plan {

Result<Position> normalise(Position position, std::uint64_t rows) {
  if (position.row > rows) {
    return Status(Code::kInvalidArgument, "position: row " + std::to_string(position.row) +
                                              " of epoch " + std::to_string(position.epoch) +
                                              ", which has " + std::to_string(rows) +
                                              " rows: the state is of another stream");
  }
  if (position.row == rows) return Position{.epoch = position.epoch + 1};
  return position;
}

Position next_batch(Position position, std::uint64_t rows, std::uint32_t batch_rows,
                    LastBatch last) {
  const std::uint64_t left = rows - std::min(position.row, rows);
  const std::uint64_t needed = last == LastBatch::kDrop ? batch_rows : 1;
  return left < needed ? Position{.epoch = position.epoch + 1} : position;
}

Position after_batch(Position position, std::uint64_t rows, std::uint32_t batch_rows,
                     LastBatch last) {
  position.row = std::min(rows, position.row + batch_rows);
  return next_batch(position, rows, batch_rows, last);
}

}  // namespace echoline::plan
