// How the echo step cuts a lane into blocks and lays their passes over each other, and which
// windows can keep two uses of a record out of one batch.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "plan/lanes.h"
#include "plan/plan_spec.h"

namespace echoline::plan {

// The items of each lane come in `blocks` blocks. Super-block s of a lane's rows holds pass k (use
// k of each item that has one) of block s - stride * k, for each k below `passes`, evenly mixed.
// With stride 0 the passes of a block follow each other instead.
struct EchoShape {
  std::uint32_t passes = 2;  // the most uses an item can have
  std::uint32_t stride = 2;
  std::uint64_t blocks = 1;  // the same number in every lane

  std::uint64_t super_blocks() const { return blocks + std::uint64_t{stride} * (passes - 1); }
};

// What the shape depends on.
struct EchoDemand {
  std::uint64_t items = 0;        // records, or under batch echo batches
  std::uint32_t lanes = 1;        // under batch echo 1
  std::uint64_t batch_items = 1;  // under batch echo 1
  std::uint64_t window = 1;
  std::uint32_t factor_max = 1000;
};

// Uses an item can have at most: ceil(factor_max), at least 2.
std::uint32_t passes_of(std::uint32_t factor_max);

// Whether no batch can hold two uses of one item.
bool keeps_twins_apart(const EchoDemand& demand);
// The smallest window that does; 0 where none can.
std::uint64_t smallest_window(const EchoDemand& demand);
// The fewest items with which some window does.
std::uint64_t fewest_items(const EchoDemand& demand);

// The shape that keeps twins apart, where the demand allows it.
EchoShape shape_without_twins(const EchoDemand& demand);
// A shape for any demand with window >= lanes; never keeps more items than the window says.
EchoShape shape_with_repeats(const EchoDemand& demand);

// Ok, or the refusal that says what to change.
Status check_twins(const EchoDemand& demand);

}  // namespace echoline::plan
