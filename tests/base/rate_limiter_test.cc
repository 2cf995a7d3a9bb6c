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

}  // namespace
}  // namespace echoline
