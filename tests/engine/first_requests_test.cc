// How much is requested before the first batch.
#include "engine/pass/first_requests.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kNow = 5'000'000'000;
constexpr std::uint64_t kMillisecondNs = 1'000'000;
constexpr std::uint64_t kMiB = 1 << 20;
constexpr double kRate = 100.0 * kMiB;

TEST(FirstRequests, GrowAtTheKnownRateInWholeStepsAndNotForLong) {
  FirstRequests requests;
  EXPECT_EQ(requests.bytes(kRate, true, kNow), 0U);
  EXPECT_TRUE(requests.grows(kNow));
  EXPECT_EQ(requests.bytes(kRate, true, kNow + 9 * kMillisecondNs), 0U);
  EXPECT_EQ(requests.bytes(kRate, true, kNow + 21 * kMillisecondNs), 2 * kMiB);
  const std::uint64_t end = kNow + FirstRequests::kGrowNs;
  EXPECT_TRUE(requests.grows(end - 1));
  EXPECT_FALSE(requests.grows(end));
  EXPECT_EQ(requests.bytes(kRate, true, end + 1),
            requests.bytes(kRate, true, end + 60'000 * kMillisecondNs));
}

TEST(FirstRequests, BeginAgainWithTheNextReaders) {
  FirstRequests requests;
  EXPECT_EQ(requests.bytes(kRate, false, kNow), 0U);
  EXPECT_FALSE(requests.grows(kNow));
  EXPECT_EQ(requests.bytes(kRate, true, kNow), 0U);
  EXPECT_EQ(requests.bytes(kRate, true, kNow + 100 * kMillisecondNs), 10 * kMiB);
  EXPECT_EQ(requests.bytes(kRate, false, kNow + 200 * kMillisecondNs), 0U);
  EXPECT_EQ(requests.bytes(kRate, true, kNow + 250 * kMillisecondNs), 0U);
}

TEST(FirstRequests, AreNoneWhereTheRateIsNotKnownYet) {
  FirstRequests requests;
  EXPECT_EQ(requests.bytes(0, true, kNow), 0U);
  EXPECT_EQ(requests.bytes(0, true, kNow + 100 * kMillisecondNs), 0U);
  EXPECT_EQ(requests.bytes(kRate, true, kNow + 200 * kMillisecondNs), 20 * kMiB);
}

}  // namespace
}  // namespace echoline::engine
