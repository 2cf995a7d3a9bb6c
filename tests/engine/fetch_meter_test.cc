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

// The thread has read its clock when it woke, and got the lock later.
TEST(FetchMeter, ATimeThatIsSeenBeforeTheThreadSaysThatItWokeDoesNotFall) {
  const std::uint64_t begin_ns = monotonic_ns() - 10 * kSecondNs;
  FetchMeter meter(begin_ns);
  meter.sleep(FetchWork::kAtStore, begin_ns);
  const std::uint64_t woke_ns = monotonic_ns() - kSecondNs;
  const std::uint64_t asleep_ns = meter.counters().busy_ns;
  meter.wake(woke_ns);
  EXPECT_GE(meter.counters().busy_ns, asleep_ns);
  meter.sleep(FetchWork::kAtStore, woke_ns + 1);
  const std::uint64_t again_ns = meter.counters().busy_ns;
  meter.wake(woke_ns + 2);
  EXPECT_GE(meter.counters().busy_ns, again_ns);
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

}  // namespace
}  // namespace echoline::engine
