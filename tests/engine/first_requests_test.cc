// How much is requested before the first batch.
#include "engine/pass/first_requests.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

struct Rate {
  double usual_rate() const { return bytes_per_second; }
  double bytes_per_second = 0;
};

constexpr std::uint64_t kNow = 5'000'000'000;
constexpr std::uint64_t kMillisecondNs = 1'000'000;
constexpr std::uint64_t kMiB = 1 << 20;

TEST(FirstRequests, GrowAtTheKnownRateInWholeStepsAndNotForLong) {
  const Rate rate{100.0 * kMiB};
  FirstRequests requests(rate);
  EXPECT_EQ(requests.bytes(true, kNow), 0U);
  EXPECT_TRUE(requests.grows(kNow));
  EXPECT_EQ(requests.bytes(true, kNow + 9 * kMillisecondNs), 0U);
  EXPECT_EQ(requests.bytes(true, kNow + 21 * kMillisecondNs), 2 * kMiB);
  const std::uint64_t end = kNow + FirstRequests<Rate>::kGrowNs;
  EXPECT_TRUE(requests.grows(end - 1));
  EXPECT_FALSE(requests.grows(end));
  EXPECT_EQ(requests.bytes(true, end + 1), requests.bytes(true, end + 60'000 * kMillisecondNs));
}

TEST(FirstRequests, BeginAgainWithTheNextReaders) {
  const Rate rate{100.0 * kMiB};
  FirstRequests requests(rate);
  EXPECT_EQ(requests.bytes(false, kNow), 0U);
  EXPECT_FALSE(requests.grows(kNow));
  EXPECT_EQ(requests.bytes(true, kNow), 0U);
  EXPECT_EQ(requests.bytes(true, kNow + 100 * kMillisecondNs), 10 * kMiB);
  EXPECT_EQ(requests.bytes(false, kNow + 200 * kMillisecondNs), 0U);
  EXPECT_EQ(requests.bytes(true, kNow + 250 * kMillisecondNs), 0U);
}

TEST(FirstRequests, AreNoneWhereTheRateIsNotKnownYet) {
  Rate rate;
  FirstRequests requests(rate);
  EXPECT_EQ(requests.bytes(true, kNow), 0U);
  EXPECT_EQ(requests.bytes(true, kNow + 100 * kMillisecondNs), 0U);
  rate.bytes_per_second = 100.0 * kMiB;
  EXPECT_EQ(requests.bytes(true, kNow + 200 * kMillisecondNs), 20 * kMiB);
}

}  // namespace
}  // namespace echoline::engine
