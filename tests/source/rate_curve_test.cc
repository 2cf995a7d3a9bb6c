// What is kept of the rates that the search for the number of requests measures.
#include "source/http/rate_curve.h"

#include <gtest/gtest.h>

#include "source/http/endpoint_limit.h"

namespace echoline::source {
namespace {

RatePoint window(double in_flight, double bytes_per_second, std::uint64_t last_ns = 1) {
  return {.in_flight = in_flight,
          .bytes_per_second = bytes_per_second,
          .answer_bytes = bytes_per_second / 10,
          .last_ns = last_ns};
}

TEST(RateCurve, HasAPointForEachPowerOfTwoInAscendingOrder) {
  RateCurve curve;
  EXPECT_TRUE(curve.points().empty());
  curve.add(window(16, 300, 5));
  curve.add(window(3.9, 100, 6));
  curve.add(window(14, 200, 7));
  const std::vector<RatePoint> points = curve.points();
  ASSERT_EQ(points.size(), 2);
  EXPECT_DOUBLE_EQ(points[0].in_flight, 3.9);
  EXPECT_DOUBLE_EQ(points[0].bytes_per_second, 100);
  EXPECT_EQ(points[0].windows, 1U);
  EXPECT_EQ(points[0].last_ns, 6U);
  EXPECT_DOUBLE_EQ(points[1].in_flight, 15);
  EXPECT_DOUBLE_EQ(points[1].bytes_per_second, 250);
  EXPECT_DOUBLE_EQ(points[1].answer_bytes, 25);
  EXPECT_EQ(points[1].windows, 2U);
  EXPECT_EQ(points[1].last_ns, 7U);
}

TEST(RateCurve, FollowsAStoreThatChanges) {
  RateCurve curve;
  for (int i = 0; i < 1000; ++i) curve.add(window(8, 100));
  curve.add(window(8, 900));
  EXPECT_DOUBLE_EQ(curve.points().front().bytes_per_second, 200) << "an eighth of the difference";
  for (int i = 0; i < 30; ++i) curve.add(window(8, 900));
  EXPECT_NEAR(curve.points().front().bytes_per_second, 900, 20);
}

TEST(RateCurve, IsBounded) {
  RateCurve curve;
  for (double in_flight = 1; in_flight < 1e6; in_flight *= 1.3) curve.add(window(in_flight, 1));
  curve.add(window(0, 1));
  EXPECT_EQ(curve.points().size(), RateCurve::kPointsMax);
}

// An endpoint answers sixteen requests, four at a time, in 100 ms each: one window and a bit.
void ask(EndpointLimit::Member& member, std::uint64_t bytes, std::uint64_t& now_ns) {
  for (int i = 0; i < 16; ++i) {
    while (member.begin()) {
    }
    now_ns += 25'000'000;
    member.end(AttemptEnd::kGood, {.bytes = bytes}, now_ns);
  }
}

TEST(EndpointLimit, KnowsTheRatesThatItsMembersGotForEachSizeOfAnswers) {
  const auto limit = EndpointLimit::of("http://user:secret@rates.test:1");
  ASSERT_EQ(limit->rates().size(), 1);
  EXPECT_EQ(limit->rates().front().endpoint, "http://rates.test:1");
  EXPECT_TRUE(limit->rates().front().points.empty());
  EndpointLimit::Member member(limit, 4, [] {});
  std::uint64_t now_ns = 1;
  ask(member, 1'000'000, now_ns);
  ASSERT_EQ(limit->rates().size(), 1);
  const EndpointRates first = limit->rates().front();
  EXPECT_FALSE(first.short_answers);
  ASSERT_EQ(first.points.size(), 1) << "no other number was allowed";
  EXPECT_DOUBLE_EQ(first.points.front().in_flight, 4);
  EXPECT_NEAR(first.points.front().bytes_per_second, 40e6, 1);
  EXPECT_DOUBLE_EQ(first.points.front().answer_bytes, 1e6);
  EXPECT_EQ(first.points.front().last_ns, now_ns - 25'000'000);
  for (int i = 0; i < 10; ++i) ask(member, 100'000, now_ns);
  const std::vector<EndpointRates> both = limit->rates();
  ASSERT_EQ(both.size(), 2);
  // A window in which the size changed has answers of both.
  EXPECT_LT(both[0].points.front().bytes_per_second, 40e6);
  EXPECT_GT(both[0].points.front().bytes_per_second, 4e6);
  EXPECT_TRUE(both[1].short_answers);
  EXPECT_NEAR(both[1].points.front().bytes_per_second, 4e6, 1);
}

}  // namespace
}  // namespace echoline::source
