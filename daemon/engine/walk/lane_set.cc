#include "engine/walk/lane_set.h"

#include <algorithm>

namespace echoline::engine {

LaneSet lanes_of_rank(std::uint32_t lanes, std::uint32_t rank, std::uint32_t world_size) {
  // Rank r has rows [r, r + 1) * batch / world, lane l has rows [l, l + 1) * batch / lanes. The
  // first lane is rounded down and the last one up: where borders differ, ranks share a lane.
  const std::uint64_t first = std::uint64_t{rank} * lanes / world_size;
  const std::uint64_t last = ((std::uint64_t{rank} + 1) * lanes + world_size - 1) / world_size;
  LaneSet set(lanes);
  std::fill(set.begin() + static_cast<std::ptrdiff_t>(first),
            set.begin() + static_cast<std::ptrdiff_t>(last), true);
  return set;
}

bool PreparedLanes::keep(const LaneSet& wanted) {
  bool changed = false;
  for (std::size_t lane = 0; lane < since_.size(); ++lane) {
    if (wanted[lane] || !since_[lane].has_value()) continue;
    since_[lane].reset();
    changed = true;
  }
  return changed;
}

bool PreparedLanes::add(const LaneSet& wanted, plan::Position position, plan::Position planned) {
  // All or none: a reader that lacks one lane cannot join, and nothing may change for it.
  for (std::size_t lane = 0; lane < since_.size(); ++lane) {
    // A lane that is not prepared could be from `planned` on; so a reader must not begin before
    // that.
    if (wanted[lane] && position < since_[lane].value_or(planned)) return false;
  }
  for (std::size_t lane = 0; lane < since_.size(); ++lane) {
    if (wanted[lane] && !since_[lane].has_value()) since_[lane] = planned;
  }
  return true;
}

bool PreparedLanes::has_row(std::uint64_t row, std::uint64_t epoch_rows) const {
  // Rows are at their lane's place in the batch, so the place decides.
  const std::uint64_t lane = row % batch_rows_ * since_.size() / batch_rows_;
  if (since_[lane].has_value()) return true;
  const std::uint64_t steps = (epoch_rows + batch_rows_ - 1) / batch_rows_;
  return row / batch_rows_ + 2 >= steps;
}

}  // namespace echoline::engine
