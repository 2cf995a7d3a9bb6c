// The echo order of one lane and epoch: which use of which item is at a row of the lane.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/echo_shape.h"
#include "plan/lanes.h"
#include "plan/permutation.h"
#include "plan/plan_spec.h"

namespace echoline::plan {

// One use of an item of a lane.
struct ItemUse {
  std::uint64_t item = 0;
  std::uint32_t use = 0;
  std::uint32_t uses = 1;
};

// Consecutive blocks with one factor, starting at `block`.
struct EchoSegment {
  std::uint64_t block = 0;
  std::uint64_t first_item = 0;
  std::uint32_t whole = 1;     // factor / 1000
  std::uint32_t fraction = 0;  // factor % 1000
  std::uint64_t carry = 0;     // thousandths that earlier items left over; below 1000

  // How many of the segment's first `count` items have an extra use, that is `whole` + 1 uses. The
  // fractions add up as in Bresenham's line algorithm, so extra uses are spread evenly.
  std::uint64_t extras(std::uint64_t count) const { return (carry + count * fraction) / 1000; }
  bool has_extra(std::uint64_t item) const {
    return extras(item - first_item + 1) > extras(item - first_item);
  }
  // How many of the segment's first `count` items have a use number `pass`.
  std::uint64_t with_pass(std::uint64_t count, std::uint32_t pass) const {
    return pass < whole ? count : pass == whole ? extras(count) : 0;
  }
};

// Immutable; any thread may call it. Memory: passes * segments numbers.
class EchoOrder {
 public:
  // Which lane of which epoch this is; carries and keys depend on it.
  struct LaneInEpoch {
    std::uint64_t seed = 0;
    std::uint32_t epoch = 0;
    std::uint32_t lane = 0;
    std::uint64_t lane_begin = 0;  // items of the lanes before this one
    std::uint64_t items = 0;       // of this lane
  };

  // `factors` starts with block 0; the blocks ascend.
  EchoOrder(const EchoShape& shape, const LaneInEpoch& lane, std::span<const FactorChange> factors);

  std::uint64_t rows() const { return rows_; }
  ItemUse at(std::uint64_t row) const;

  const EchoShape& shape() const { return shape_; }
  const LaneInEpoch& lane() const { return lane_; }
  const EvenCut& blocks() const { return blocks_; }
  const EchoSegment& segment_of(std::uint64_t block) const;

  // The first block of which no row is in [0, row).
  std::uint64_t next_block(std::uint64_t row) const;

  // The super-block that contains a row, and the first row of a super-block, which is at most
  // shape().super_blocks().
  std::uint64_t super_block_of(std::uint64_t row) const;
  std::uint64_t super_block_begin(std::uint64_t super_block) const;
  // Rows of pass `pass` in a super-block.
  std::uint64_t pass_rows(std::uint64_t super_block, std::uint32_t pass) const;
  // The block of that pass; only valid if pass_rows is not 0.
  std::uint64_t pass_block(std::uint64_t super_block, std::uint32_t pass) const {
    return super_block - std::uint64_t{shape_.stride} * pass;
  }

 private:
  // How many items of the blocks before `block` have a use number `pass`.
  std::uint64_t with_pass_below(std::uint64_t block, std::uint32_t pass) const;
  std::uint64_t border_of(std::uint64_t super_block, std::uint32_t pass) const;

  EchoShape shape_;
  LaneInEpoch lane_;
  EvenCut blocks_;
  std::vector<EchoSegment> segments_;
  std::vector<std::uint64_t> below_;  // [segment][pass]: items before the segment with that use
  std::uint64_t rows_ = 0;
};

}  // namespace echoline::plan
