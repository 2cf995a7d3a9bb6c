// The times of a thread that fetches, seen while it sleeps and after it has woken.
#include "engine/fetch/fetch_meter.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

TEST(FetchMeter, TimeCountsWhileTheThreadSleepsAndNeverFalls) {
  const std::uint64_t begin_ns = monotonic_ns() - 10 * kSecondNs;
  FetchMeter meter(begin_ns);
  EXPECT_EQ(meter.counters().busy_ns, 0U) << "it has not slept yet";
  meter.sleep(FetchWork::kAtStore, begin_ns + kSecondNs);
  const FetchCounters asleep = meter.counters();
  EXPECT_EQ(asleep.present, FetchWork::kAtStore);
  EXPECT_GE(asleep.busy_ns, 9 * kSecondNs);
  EXPECT_EQ(asleep.busy_ns, asleep.store_ns);
  meter.wake(monotonic_ns());
  const FetchCounters awake = meter.counters();
  EXPECT_GE(awake.busy_ns, asleep.busy_ns);
  EXPECT_GE(awake.busy_ns, 10 * kSecondNs) << "and the time before it slept";
  EXPECT_EQ(awake.idle_ns, 0U);
}

TEST(FetchMeter, TimeIsChargedToWhatTheThreadSleptFor) {
  FetchMeter meter(0);
  meter.sleep(FetchWork::kAtDisk, 1 * kSecondNs);
  meter.wake(2 * kSecondNs);
  meter.sleep(FetchWork::kNone, 2 * kSecondNs);
  meter.wake(5 * kSecondNs);
  meter.sleep(FetchWork::kHeldUp, 5 * kSecondNs);
  meter.wake(9 * kSecondNs);
  const FetchCounters found = meter.counters();
  EXPECT_EQ(found.busy_ns, 2 * kSecondNs);
  EXPECT_EQ(found.store_ns, 0U);
  EXPECT_EQ(found.idle_ns, 3 * kSecondNs);
}

TEST(FetchMeter, TheCostOfAByteFollowsTheStore) {
  FetchMeter meter(0);
  std::uint64_t now_ns = 0;
  const auto read = [&](int megabytes, std::uint64_t ns_per_byte) {
    for (int i = 0; i < megabytes; ++i) {
      meter.sleep(FetchWork::kAtStore, now_ns);
      now_ns += 1'000'000 * ns_per_byte;
      meter.wake(now_ns);
      meter.count_stored(1'000'000);
    }
  };
  EXPECT_EQ(meter.store_ns_per_byte(), 0) << "unknown";
  read(50, 10);
  EXPECT_DOUBLE_EQ(meter.store_ns_per_byte(), 10);
  EXPECT_FALSE(meter.knows_store()) << "after half a second";
  read(1000, 10);
  EXPECT_TRUE(meter.knows_store());
  read(50, 100);
  EXPECT_NEAR(meter.store_ns_per_byte(), 100, 10) << "five seconds after a slower one";
}

// A link of 1 MB/s: 16 reads of 1 MB side by side, which end together after 16 s.
TEST(FetchMeter, TheCostOfAByteOutlastsAPauseBetweenTheEndsOfReads) {
  FetchMeter meter(0);
  std::uint64_t now_ns = 0;
  for (int round = 0; round < 3; ++round) {
    for (int wake = 0; wake < 160; ++wake) {
      meter.sleep(FetchWork::kAtStore, now_ns);
      meter.wake(now_ns += kSecondNs / 10);
      if (round == 0) {
        EXPECT_FALSE(meter.knows_store()) << "no byte has come";
      } else {
        EXPECT_GE(meter.store_ns_per_byte(), 1000);
        EXPECT_LE(meter.store_ns_per_byte(), 3000);
      }
    }
    for (int i = 0; i < 16; ++i) meter.count_stored(1'000'000);
    EXPECT_NEAR(meter.store_ns_per_byte(), 1000, 10);
  }
}

}  // namespace
}  // namespace echoline::engine
