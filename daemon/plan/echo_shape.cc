// The arithmetic of the window. Why it keeps two uses of an item out of one batch: between two
// passes of a block there is one whole super-block. It has at least the rows of the smallest block,
// and no block is smaller than a batch.
#include "plan/echo_shape.h"

#include <algorithm>
#include <string>

namespace echoline::plan {
namespace {

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

// The demand as one lane sees it.
struct LaneDemand {
  explicit LaneDemand(const EchoDemand& demand)
      : passes(passes_of(demand.factor_max)),
        items_least(demand.items / demand.lanes),
        items_most(divide_up(demand.items, demand.lanes)),
        window(demand.window / demand.lanes),
        // At an epoch's end, the lanes can differ by a few rows. A block must hold these, too.
        block_least(demand.batch_items / demand.lanes + (demand.lanes > 1 ? passes + 1 : 0)),
        delay(2 * (passes - 1)) {}

  // The most items per block that fit the window. At most a quarter of the lane: with larger
  // blocks, most of the epoch would be its beginning and end, where fewer passes are mixed.
  std::uint64_t block_most() const {
    return std::max<std::uint64_t>(1, std::min(window, items_least / 4) / delay);
  }
  std::uint64_t blocks() const {
    const std::uint64_t wanted = divide_up(items_most, block_most());
    return std::max<std::uint64_t>(1, std::min(items_least / block_least, wanted));
  }

  std::uint32_t passes;
  std::uint64_t items_least;
  std::uint64_t items_most;
  std::uint64_t window;
  std::uint64_t block_least;
  std::uint64_t delay;  // super-blocks between an item's first use and its last
};

}  // namespace

std::uint32_t passes_of(std::uint32_t factor_max) {
  return std::max<std::uint32_t>(2, (factor_max + 999) / 1000);
}

bool keeps_twins_apart(const EchoDemand& demand) {
  if (demand.factor_max == 1000) return true;  // nothing is used twice
  const LaneDemand lane(demand);
  if (lane.items_least < 2 * lane.block_least) return false;
  if (lane.items_least <= lane.window) return true;
  return lane.delay * divide_up(lane.items_most, lane.blocks()) <= lane.window;
}

std::uint64_t fewest_items(const EchoDemand& demand) {
  return 2 * LaneDemand(demand).block_least * demand.lanes;
}

// A larger window makes blocks larger only if it has room for them, so keeps_twins_apart is
// monotone in the window. The answer is the window that just fits blocks of the smallest size.
std::uint64_t smallest_window(const EchoDemand& demand) {
  if (demand.factor_max == 1000) return demand.lanes;
  const LaneDemand lane(demand);
  if (lane.items_least < 2 * lane.block_least) return 0;
  const std::uint64_t blocks = lane.items_least / lane.block_least;
  return demand.lanes * std::min(lane.items_least, lane.delay * divide_up(lane.items_most, blocks));
}

EchoShape shape_without_twins(const EchoDemand& demand) {
  const LaneDemand lane(demand);
  return {.passes = lane.passes, .stride = 2, .blocks = lane.blocks()};
}

EchoShape shape_with_repeats(const EchoDemand& demand) {
  const LaneDemand lane(demand);
  EchoShape shape{.passes = lane.passes, .stride = 0, .blocks = 1};
  std::uint64_t block_most = std::max<std::uint64_t>(1, lane.window);
  if (lane.window >= lane.delay) {
    shape.stride = 2;
    block_most = lane.block_most();
  } else if (lane.window > 1 && lane.window >= lane.passes - 1) {
    shape.stride = 1;
    block_most = lane.window / (lane.passes - 1);
  }
  shape.blocks = std::max<std::uint64_t>(1, divide_up(lane.items_most, block_most));
  return shape;
}

Status check_twins(const EchoDemand& demand) {
  if (keeps_twins_apart(demand)) return {};
  const std::string escape = ", or set echo.allow_repeats: true";
  const std::uint64_t window = smallest_window(demand);
  if (window == 0) {
    return Status(
        Code::kInvalidArgument,
        "echo: with batch.size " + std::to_string(demand.batch_items) + " and lanes " +
            std::to_string(demand.lanes) + ", " + std::to_string(demand.items) +
            " records are too few to keep two uses of one record out of a batch; at least " +
            std::to_string(fewest_items(demand)) + " are needed: take a smaller batch.size" +
            escape);
  }
  return Status(
      Code::kInvalidArgument,
      "echo.window: with " + std::to_string(demand.window) +
          " a batch could hold two uses of one record; the smallest window accepted here is " +
          std::to_string(window) + escape);
}

}  // namespace echoline::plan
