// How the echo step divides a lane into blocks and mixes their passes, and which windows keep two
// uses of a record ("twins") out of one batch.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "plan/lanes.h"
#include "plan/plan_spec.h"

namespace echoline::plan {

// The items of each lane form `blocks` blocks. Super-block s of a lane's rows contains pass k (use
// k of each item that has one) of block s - stride * k, for each k below `passes`, evenly mixed.
// With stride 0, the passes of a block follow one another instead.
struct EchoShape {
  std::uint32_t passes = 2;  // the most uses that an item can have
  std::uint32_t stride = 2;
  std::uint64_t blocks = 1;  // the same number in every lane

  std::uint64_t super_blocks() const { return blocks + std::uint64_t{stride} * (passes - 1); }
};

// Everything that the shape depends on.
struct EchoDemand {
  std::uint64_t items = 0;        // records; batches under batch echo
  std::uint32_t lanes = 1;        // 1 under batch echo
  std::uint64_t batch_items = 1;  // 1 under batch echo
  std::uint64_t window = 1;
  std::uint32_t factor_max = 1000;
};

// The most uses that an item can have: ceil(factor_max), at least 2. In thousandths.
std::uint32_t passes_of(std::uint32_t factor_max);

// Whether the window keeps every batch free of two uses of one item.
bool keeps_twins_apart(const EchoDemand& demand);
// The smallest window for which keeps_twins_apart is true; 0 if there is none.
std::uint64_t smallest_window(const EchoDemand& demand);
// The smallest number of items for which there is such a window.
std::uint64_t fewest_items(const EchoDemand& demand);

// The shape that keeps twins apart. Only if keeps_twins_apart(demand).
EchoShape shape_without_twins(const EchoDemand& demand);
// A shape for any demand with window >= lanes; it never holds more items than the window.
EchoShape shape_with_repeats(const EchoDemand& demand);

// Ok if keeps_twins_apart; else an error that says what to change.
Status check_twins(const EchoDemand& demand);

}  // namespace echoline::plan
