// Which lanes of a stream a pass prepares. Lane l fills the l-th of L equal runs of rows of each
// batch (semantics.md, Lanes), so the ranks of one host need some lanes and not the others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/position.h"

namespace echoline::engine {

// Of each lane, whether it is meant.
using LaneSet = std::vector<bool>;

// The lanes that hold rows of rank `rank` of `world_size`, in batches of the stream's own size.
LaneSet lanes_of_rank(std::uint32_t lanes, std::uint32_t rank, std::uint32_t world_size);

// Not thread safe.
class PreparedLanes {
 public:
  // All of them, from the beginning.
  PreparedLanes(std::uint32_t lanes, std::uint32_t batch_rows)
      : batch_rows_(batch_rows), since_(lanes, plan::Position{}) {}

  // From now on no others; false if nothing changes.
  bool keep(const LaneSet& wanted);
  // Whether somebody who begins at `position` finds these lanes, or will: what is not prepared now
  // can be from `planned` on. Then it is.
  bool add(const LaneSet& wanted, plan::Position position, plan::Position planned);

  // Of an epoch of `epoch_rows` rows. The place in the batch decides, because ranks read places: in
  // the last two batches of an epoch, a place can have a record of another lane.
  bool has_row(std::uint64_t row, std::uint64_t epoch_rows) const;

 private:
  const std::uint32_t batch_rows_;
  std::vector<std::optional<plan::Position>> since_;
};

}  // namespace echoline::engine
