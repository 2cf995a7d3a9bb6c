#include "engine/walk/slot_pool.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

TEST(SlotPool, GoesRoundWithoutRepeats) {
  const SlotPool pool(4, 10, false);
  EXPECT_EQ(pool.circular(0).arena_row, 0U);
  EXPECT_EQ(pool.circular(5).slot, 1U);
  EXPECT_EQ(pool.circular(5).arena_row, 50U);
}

TEST(SlotPool, KeepsABatchUntilItsLastUseIsReleased) {
  SlotPool pool(2, 10, true);
  const auto first = pool.of_batch(0, 0, 0, false, 0);
  ASSERT_TRUE(first.has_value());
  const auto second = pool.of_batch(0, 1, 1, false, 0);
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(pool.of_batch(0, 2, 2, true, 2).has_value()) << "both are still to be used";
  const auto again = pool.of_batch(0, 0, 2, true, 2);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->slot, first->slot);
  EXPECT_FALSE(pool.of_batch(0, 2, 3, true, 2).has_value()) << "descriptor 2 is not released";
  const auto reused = pool.of_batch(0, 2, 3, true, 3);
  ASSERT_TRUE(reused.has_value());
  EXPECT_EQ(reused->slot, first->slot);
}

}  // namespace
}  // namespace echoline::engine
