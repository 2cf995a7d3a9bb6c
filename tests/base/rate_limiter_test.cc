// When a rate limiter allows a message.
#include "base/rate_limiter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace echoline {
namespace {

TEST(RateLimiter, IsDueAtFirstAndOnceForEachPause) {
  RateLimiter line(100);
  EXPECT_TRUE(line.due(5));
  EXPECT_FALSE(line.due(6));
  EXPECT_FALSE(line.due(104));
  EXPECT_TRUE(line.due(105));
  EXPECT_FALSE(line.due(204));
}

TEST(RateLimiter, IsDueToOneOfMany) {
  RateLimiter line(1'000'000);
  std::atomic<int> said{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { said += line.due(1) ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(said, 1);
}

TEST(LineBudget, SaysAtTheLastLineThatMoreAreLeftOut) {
  LineBudget budget;
  for (std::uint32_t i = 1; i < LineBudget::kLines; ++i) EXPECT_EQ(budget.take(5), "");
  EXPECT_EQ(budget.take(6), " (no more such lines within a minute of the first one)");
  EXPECT_EQ(budget.take(LineBudget::kTimeNs + 4), std::nullopt);
  EXPECT_EQ(budget.take(LineBudget::kTimeNs + 5), "");
}

}  // namespace
}  // namespace echoline
