// Counts the rows of super-blocks by prefix sums in closed form, and searches the super-block of a
// row. docs/semantics.md describes the order, under "Echo".
#include "plan/echo_order.h"

#include <algorithm>

#include "base/check.h"
#include "plan/echo_pass.h"
#include "plan/interleave.h"

namespace echoline::plan {

EchoOrder::EchoOrder(const EchoShape& shape, const LaneInEpoch& lane,
                     std::span<const FactorChange> factors)
    : shape_(shape), lane_(lane), blocks_(lane.items, shape.blocks) {
  ECHOLINE_CHECK(!factors.empty() && factors[0].block == 0);
  segments_.reserve(factors.size());
  std::vector<std::uint64_t> below(shape.passes, 0);
  // The carry runs through all items of the epoch, so that the epoch has floor(N * factor) rows:
  // the lanes before this one have left the thousandths of their items.
  std::uint64_t carry = lane.lane_begin * factors[0].factor % 1000;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const EchoSegment segment{.block = factors[i].block,
                              .first_item = blocks_.begin(factors[i].block),
                              .whole = factors[i].factor / 1000,
                              .fraction = factors[i].factor % 1000,
                              .carry = carry};
    segments_.push_back(segment);
    below_.insert(below_.end(), below.begin(), below.end());
    const std::uint64_t end = i + 1 < factors.size() ? factors[i + 1].block : shape.blocks;
    const std::uint64_t count = blocks_.begin(end) - segment.first_item;
    for (std::uint32_t pass = 0; pass < shape.passes; ++pass) {
      below[pass] += segment.with_pass(count, pass);
    }
    carry = (carry + count * segment.fraction) % 1000;
  }
  rows_ = super_block_begin(shape.super_blocks());
}

const EchoSegment& EchoOrder::segment_of(std::uint64_t block) const {
  const auto after = std::upper_bound(
      segments_.begin(), segments_.end(), block,
      [](std::uint64_t wanted, const EchoSegment& segment) { return wanted < segment.block; });
  return *(after - 1);
}

std::uint64_t EchoOrder::with_pass_below(std::uint64_t block, std::uint32_t pass) const {
  const EchoSegment& segment = segment_of(block);
  const auto index = static_cast<std::size_t>(&segment - segments_.data());
  return below_[index * shape_.passes + pass] +
         segment.with_pass(blocks_.begin(block) - segment.first_item, pass);
}

// The number of blocks whose pass `pass` is complete before the super-block begins.
std::uint64_t EchoOrder::border_of(std::uint64_t super_block, std::uint32_t pass) const {
  const std::uint64_t delay = std::uint64_t{shape_.stride} * pass;
  return super_block < delay ? 0 : std::min(super_block - delay, shape_.blocks);
}

std::uint64_t EchoOrder::super_block_begin(std::uint64_t super_block) const {
  std::uint64_t rows = 0;
  for (std::uint32_t pass = 0; pass < shape_.passes; ++pass) {
    rows += with_pass_below(border_of(super_block, pass), pass);
  }
  return rows;
}

std::uint64_t EchoOrder::pass_rows(std::uint64_t super_block, std::uint32_t pass) const {
  return with_pass_below(border_of(super_block + 1, pass), pass) -
         with_pass_below(border_of(super_block, pass), pass);
}

// The last super-block that begins at or before the row. Super-blocks have nearly the same size, so
// a guess in proportion is close. A search with doubling steps from there, then a bisection, keep
// the worst case logarithmic.
std::uint64_t EchoOrder::super_block_of(std::uint64_t row) const {
  const std::uint64_t count = shape_.super_blocks();
  const double share = static_cast<double>(row) / static_cast<double>(rows_);
  std::uint64_t low =
      std::min(count - 1, static_cast<std::uint64_t>(share * static_cast<double>(count)));
  std::uint64_t high = low + 1;
  for (std::uint64_t step = 1; low > 0 && super_block_begin(low) > row; step *= 2) {
    high = low;
    low -= std::min(low, step);
  }
  for (std::uint64_t step = 1; high < count && super_block_begin(high) <= row; step *= 2) {
    low = high;
    high = std::min(count, high + step);
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (super_block_begin(middle) <= row ? low : high) = middle;
  }
  return low;
}

std::uint64_t EchoOrder::next_block(std::uint64_t row) const {
  if (row == 0) return 0;
  if (row >= rows_) return shape_.blocks;
  return std::min(super_block_of(row - 1) + 1, shape_.blocks);
}

ItemUse EchoOrder::at(std::uint64_t row) const {
  ECHOLINE_CHECK(row < rows_);
  const std::uint64_t super_block = super_block_of(row);
  const std::uint64_t begin = super_block_begin(super_block);
  // Each pass takes its share of the rows that the passes before it have left; `place` is the row's
  // index among these.
  std::uint64_t rest = super_block_begin(super_block + 1) - begin;
  std::uint64_t place = row - begin;
  for (std::uint32_t pass = 0;; ++pass) {
    const std::uint64_t rows = pass_rows(super_block, pass);
    if (rows == 0) continue;
    const Taken taken =
        shape_.stride == 0 ? taken_in_turn(place, rows) : taken_evenly(place, rows, rest);
    if (taken.here) {
      return EchoPass(*this, pass_block(super_block, pass), pass).at(taken.before);
    }
    place -= taken.before;
    rest -= rows;
  }
}

}  // namespace echoline::plan
