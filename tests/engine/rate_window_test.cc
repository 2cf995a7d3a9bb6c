// What a stream did lately is the difference to ten seconds ago, and forgets what was before.
#include "engine/stats/rate_window.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

RecentStats at(std::uint64_t second, std::uint64_t batches) {
  return {.passed_ns = second * kSecond,
          .batches = batches,
          .wait_ns = {second, 2 * second, 0, 0, 0},
          .stages = {{.stage = "fetch", .busy_ns = 3 * second}}};
}

TEST(RateWindow, IsNothingBeforeTheFirstNote) {
  EXPECT_TRUE(RateWindow().due(0));
  EXPECT_EQ(RateWindow().until(at(5, 7)).passed_ns, 0U);
}

TEST(RateWindow, IsDueOnceASecond) {
  RateWindow recent;
  recent.note(at(5, 0));
  EXPECT_FALSE(recent.due(6 * kSecond - 1));
  EXPECT_TRUE(recent.due(6 * kSecond));
}

TEST(RateWindow, TellsTheDifferenceToTheOldestNoteCounterByCounter) {
  RateWindow recent;
  recent.note(at(5, 70));
  const RecentStats seen = recent.until(at(8, 100));
  EXPECT_EQ(seen.passed_ns, 3 * kSecond);
  EXPECT_EQ(seen.batches, 30U);
  EXPECT_EQ(seen.wait_ns[1], 6U);
  ASSERT_EQ(seen.stages.size(), 1U);
  EXPECT_EQ(seen.stages[0].stage, "fetch");
  EXPECT_EQ(seen.stages[0].busy_ns, 9U);
}

TEST(RateWindow, ForgetsWhatIsOlderThanTenSeconds) {
  RateWindow recent;
  for (std::uint64_t second = 1; second <= 100; ++second) recent.note(at(second, second * second));
  const RecentStats seen = recent.until(at(101, 101 * 101));
  EXPECT_EQ(seen.passed_ns, 10 * kSecond);
  EXPECT_EQ(seen.batches, 101U * 101 - 91 * 91);
}

}  // namespace
}  // namespace echoline::engine
