// The echo order of one lane where all uses of an item are in one batch (repeated augmentation).
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/echo_order.h"

namespace echoline::plan {

// The lane's rows of a batch are its next rows / uses items, once for each use, always in the same
// order. So two uses of an item are as far apart as a batch has items, and of W >= `uses` ranks,
// none gets both. The last rows of the epoch do the same with fewer items. A value.
class StepEcho {
 public:
  // `batch_rows`: rows of the lane in a batch; a multiple of `uses`.
  StepEcho(std::uint64_t items, std::uint64_t batch_rows, std::uint32_t uses)
      : items_(items), distinct_(batch_rows / uses), uses_(uses) {}

  std::uint64_t rows() const { return items_ * uses_; }

  // The items that the batches of rows [0, row) have.
  std::uint64_t items_before(std::uint64_t row) const {
    const std::uint64_t batch_rows = distinct_ * uses_;
    return std::min(items_, (row + batch_rows - 1) / batch_rows * distinct_);
  }

  ItemUse at(std::uint64_t row) const {
    const std::uint64_t first = row / (distinct_ * uses_) * distinct_;
    const std::uint64_t count = std::min(distinct_, items_ - first);
    const std::uint64_t place = row - first * uses_;
    return {first + place % count, static_cast<std::uint32_t>(place / count), uses_};
  }

 private:
  std::uint64_t items_;
  std::uint64_t distinct_;  // items of a batch
  std::uint32_t uses_;
};

}  // namespace echoline::plan
