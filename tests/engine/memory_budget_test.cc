#include "engine/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

TEST(MemoryBudget, RefusesWithNeedAndHave) {
  MemoryBudget budget(10 << 20);
  Result<MemoryBudget::Reservation> first = budget.reserve(6 << 20, "stream a");
  ASSERT_TRUE(first.ok());
  const Result<MemoryBudget::Reservation> second = budget.reserve(5 << 20, "stream b");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::kResourceExhausted);
  EXPECT_THAT(second.status().message(), testing::AllOf(testing::HasSubstr("stream b needs 5MiB"),
                                                        testing::HasSubstr("4MiB of 10MiB is free"),
                                                        testing::HasSubstr("lacks 1MiB")));
}

TEST(MemoryBudget, GetsBytesBackWhenAReservationGoes) {
  MemoryBudget budget(100);
  {
    const auto reservation = budget.reserve(100, "all");
    EXPECT_EQ(budget.reserved_bytes(), 100U);
  }
  EXPECT_EQ(budget.reserved_bytes(), 0U);
  EXPECT_EQ(budget.reserve_up_to(100, 30).bytes(), 100U);
  EXPECT_EQ(budget.reserve_up_to(500, 30).bytes(), 70U);
  EXPECT_EQ(budget.reserve_up_to(500, 300).bytes(), 0U);
  EXPECT_EQ(budget.reserved_bytes(), 0U);
}

}  // namespace
}  // namespace echoline::engine
