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
  const std::uint64_t place = row % batch_rows_;
  const std::uint64_t rows = std::min<std::uint64_t>(batch_rows_, epoch_rows - (row - place));
  // A rank without rows of a short batch repeats its first one.
  if (rows < batch_rows_ && place == 0) return true;
  // The lane l with l * rows / lanes <= place < (l + 1) * rows / lanes, rounded down. In a short
  // batch, the same formula gives the ranks their rows (semantics.md, The last batch).
  const std::uint64_t lane = ((place + 1) * since_.size() - 1) / rows;
  return since_[lane].has_value();
}

}  // namespace echoline::engine
