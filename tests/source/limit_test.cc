// The limit on requests to one endpoint: its arithmetic, and how streams share it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "source/http/adaptive_limit.h"
#include "source/http/endpoint_limit.h"

namespace echoline::source {
namespace {

constexpr std::uint64_t kMsNs = 1'000'000;

// Simulates a store that answers every `latency_ms` to each of the requests that the limit allows,
// and refuses those above `capacity`. Returns the time at the end and counts refusals.
std::uint64_t run(AdaptiveLimit& limit, std::uint64_t from_ms, std::uint64_t until_ms,
                  std::size_t capacity, std::uint64_t& refused) {
  for (; from_ms < until_ms; from_ms += 20) {
    const std::size_t under_way = limit.limit();
    for (std::size_t i = 0; i < under_way; ++i) {
      if (i < capacity) {
        limit.good(from_ms * kMsNs);
      } else {
        limit.refused(from_ms * kMsNs);
        ++refused;
      }
    }
  }
  return from_ms;
}

TEST(AdaptiveLimit, BeginsAtTheCapAndStaysThereWhileNothingIsRefused) {
  AdaptiveLimit limit;
  limit.set_cap(128);
  std::uint64_t refused = 0;
  run(limit, 0, 5000, 1000, refused);
  EXPECT_EQ(limit.limit(), 128U);
}

TEST(AdaptiveLimit, SettlesNearWhatTheStoreTakes) {
  AdaptiveLimit limit;
  limit.set_cap(128);
  std::uint64_t refused = 0;
  std::uint64_t now = run(limit, 0, 5000, 40, refused);
  std::size_t least = 1000;
  std::size_t most = 0;
  while (now < 15'000) {
    now = run(limit, now, now + 20, 40, refused);
    least = std::min(least, limit.limit());
    most = std::max(most, limit.limit());
  }
  EXPECT_GE(least, 30U);
  EXPECT_LE(most, 60U);
}

TEST(AdaptiveLimit, AStoreThatRefusesAllGetsAnEighthAndAllAgainWithinThreeSeconds) {
  AdaptiveLimit limit;
  limit.set_cap(128);
  std::uint64_t refused = 0;
  std::uint64_t now = run(limit, 0, 3000, 0, refused);
  EXPECT_EQ(limit.limit(), 16U);
  run(limit, now, now + 3000, 1000, refused);
  EXPECT_EQ(limit.limit(), 128U);
}

TEST(AdaptiveLimit, AHigherCapIsRoomAtOnceAndALowerOneHoldsAtOnce) {
  AdaptiveLimit limit;
  limit.set_cap(10);
  limit.set_cap(30);
  EXPECT_EQ(limit.limit(), 30U);
  limit.set_cap(4);
  EXPECT_EQ(limit.limit(), 4U);
}

TEST(EndpointLimit, StreamsOfOneEndpointShareOneLimitAndOthersHaveTheirOwn) {
  const auto one = EndpointLimit::of("http://a:1");
  EXPECT_EQ(one, EndpointLimit::of("http://a:1"));
  EXPECT_NE(one, EndpointLimit::of("http://a:2"));
  EndpointLimit::Member first(one, 3, [] {});
  EXPECT_EQ(one->limit(), 3U);
  {
    EndpointLimit::Member second(one, 5, [] {});
    EXPECT_EQ(one->limit(), 8U);
  }
  EXPECT_EQ(one->limit(), 3U);
}

TEST(EndpointLimit, WhoFindsNoRoomIsWokenWhenThereIsAndNoneOvertakes) {
  const auto limit = EndpointLimit::of("http://b:1");
  int woken_first = 0;
  int woken_second = 0;
  EndpointLimit::Member first(limit, 1, [&] { ++woken_first; });
  EndpointLimit::Member second(limit, 1, [&] { ++woken_second; });
  EXPECT_TRUE(first.begin());
  EXPECT_TRUE(first.begin());  // the second has taken no room
  EXPECT_FALSE(second.begin());
  EXPECT_FALSE(first.begin());
  EXPECT_EQ(woken_second, 0);
  first.end(AttemptEnd::kGood, {.bytes = 1000}, monotonic_ns());
  EXPECT_EQ(woken_second, 1);
  EXPECT_FALSE(first.begin()) << "the second came before";
  EXPECT_TRUE(second.begin());
  first.end(AttemptEnd::kGood, {.bytes = 1000}, monotonic_ns());
  EXPECT_EQ(woken_first, 1);
  EXPECT_TRUE(first.begin());
}

TEST(EndpointLimit, WhoGivesUpWaitingLetsTheNextOneIn) {
  const auto limit = EndpointLimit::of("http://c:1");
  int woken = 0;
  EndpointLimit::Member first(limit, 1, [] {});
  EndpointLimit::Member last(limit, 1, [&] { ++woken; });
  {
    EndpointLimit::Member middle(limit, 0, [] {});
    EXPECT_TRUE(first.begin() && first.begin());
    EXPECT_FALSE(middle.begin());
    EXPECT_FALSE(last.begin());
    first.end(AttemptEnd::kOther, {.bytes = 0}, monotonic_ns());
    EXPECT_FALSE(last.begin());
    middle.withdraw();
    EXPECT_EQ(woken, 1);
  }
  EXPECT_TRUE(last.begin());
}

TEST(EndpointLimit, ManyThreadsNeverExceedIt) {
  const auto limit = EndpointLimit::of("http://d:1");
  std::atomic<int> under_way{0};
  std::atomic<int> most{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::atomic<bool> woken{false};
      EndpointLimit::Member member(limit, 2, [&woken] { woken = true; });
      for (int turn = 0; turn < 2000;) {
        if (!member.begin()) {
          for (int spin = 0; spin < 1000 && !woken.exchange(false); ++spin)
            std::this_thread::yield();
          continue;
        }
        ++turn;
        most = std::max(most.load(), ++under_way);
        --under_way;
        member.end(AttemptEnd::kGood, {.bytes = 1000}, monotonic_ns());
      }
    });
  threads.clear();
  EXPECT_LE(most, 8);
  EXPECT_GE(most, 1);
}

}  // namespace
}  // namespace echoline::source
