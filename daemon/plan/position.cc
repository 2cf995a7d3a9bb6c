#include "plan/position.h"

#include <string>

namespace echoline::plan {

Result<Position> normalise(Position position, std::uint64_t rows) {
  if (position.epoch >= kEpochsMax) {
    return Status(Code::kInvalidArgument,
                  "position: epoch " + std::to_string(position.epoch) +
                      ": no stream has so many epochs; is the state damaged?");
  }
  if (position.row > rows) {
    return Status(Code::kInvalidArgument, "position: row " + std::to_string(position.row) +
                                              " of epoch " + std::to_string(position.epoch) +
                                              ", which has " + std::to_string(rows) +
                                              " rows: the state is of another stream");
  }
  if (position.row == rows) return Position{.epoch = position.epoch + 1};
  return position;
}

}  // namespace echoline::plan
