// Which jobs of a pass count as too far behind.
#include "engine/jobs/slow_job_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr int kPass = 0;  // any address will do

Job job(const char* name, std::uint32_t batch_size = 8) { return {name, 1, batch_size}; }

SlowJobDetector detector(std::uint64_t lag_rows) {
  return SlowJobDetector(
      {.action = SlowPolicy::Action::kSplit, .lag_rows = lag_rows, .ring_rows = 1000});
}

TEST(SlowJobDetector, AJobIsOneAfterASecondBehindWithoutABreak) {
  SlowJobDetector slow_jobs = detector(32);
  const SlowJobDetector::Progress slow{job("slow"), 8, false}, fast{job("fast"), 48, false};
  EXPECT_THAT(slow_jobs.look(&kPass, {slow, fast}, 1 * kSecond), IsEmpty());
  EXPECT_THAT(slow_jobs.look(&kPass, {slow, fast}, 2 * kSecond - 1), IsEmpty());
  EXPECT_THAT(slow_jobs.look(&kPass, {slow, fast}, 2 * kSecond),
              ElementsAre(SlowJobDetector::SlowJob{job("slow"), 32}));
  EXPECT_THAT(slow_jobs.look(&kPass, {{job("slow"), 16, false}, fast}, 3 * kSecond), IsEmpty());
  EXPECT_THAT(slow_jobs.look(&kPass, {slow, fast}, 4 * kSecond), IsEmpty())
      << "the count starts again";
}

TEST(SlowJobDetector, TheBatchThatTheForemostIsAtWorkOnDoesNotCountUntilItWaits) {
  SlowJobDetector slow_jobs = detector(32);
  const SlowJobDetector::Progress slow{job("slow"), 8, false};
  for (const std::uint64_t now_ns : {1 * kSecond, 3 * kSecond}) {
    EXPECT_THAT(slow_jobs.look(&kPass, {slow, {job("fast"), 40, false}}, now_ns), IsEmpty());
  }
  EXPECT_THAT(slow_jobs.look(&kPass, {slow, {job("fast"), 40, true}}, 4 * kSecond), IsEmpty());
  EXPECT_THAT(slow_jobs.look(&kPass, {slow, {job("fast"), 40, true}}, 5 * kSecond),
              ElementsAre(SlowJobDetector::SlowJob{job("slow"), 32}));
}

TEST(SlowJobDetector, AJobIsWhereItsLastRankIsAndLargeBatchesAreNoLead) {
  SlowJobDetector slow_jobs = detector(16);
  const Job ranks{"ranks", 2, 8}, large = job("large", 64);
  for (const std::uint64_t now_ns : {1 * kSecond, 3 * kSecond}) {
    EXPECT_THAT(slow_jobs.look(&kPass, {{ranks, 24, false}, {ranks, 80, false}, {large, 64, false}},
                               now_ns),
                IsEmpty())
        << "the first rank waits for its own second one";
  }
}

TEST(SlowJobDetector, AllWhoAreBehindAreOnceOneWasForLong) {
  SlowJobDetector slow_jobs = detector(32);
  const SlowJobDetector::Progress first{job("first"), 8, false}, second{job("second"), 16, false};
  EXPECT_THAT(slow_jobs.look(&kPass, {first, second, {job("fast"), 48, true}}, 1 * kSecond),
              IsEmpty());
  EXPECT_THAT(slow_jobs.look(&kPass, {first, {job("second"), 24, false}, {job("fast"), 48, true}},
                             1 * kSecond + 1),
              IsEmpty());
  EXPECT_THAT(slow_jobs.look(&kPass, {first, second, {job("fast"), 48, true}}, 2 * kSecond),
              ElementsAre(SlowJobDetector::SlowJob{job("first"), 40},
                          SlowJobDetector::SlowJob{job("second"), 32}));
}

TEST(SlowJobDetector, AJobOfLargeBatchesIsBehindWhereTheRingLetsItBeNoFurther) {
  SlowJobDetector slow_jobs(
      {.action = SlowPolicy::Action::kSplit, .lag_rows = 24, .ring_rows = 32});
  const SlowJobDetector::Progress large{job("large", 16), 16, false}, fast{job("fast"), 32, true};
  EXPECT_THAT(slow_jobs.look(&kPass, {large, fast}, 1 * kSecond), IsEmpty());
  EXPECT_THAT(slow_jobs.look(&kPass, {large, fast}, 2 * kSecond),
              ElementsAre(SlowJobDetector::SlowJob{job("large", 16), 16}));
}

TEST(SlowJobDetector, UnderWaitNobodyIs) {
  SlowJobDetector slow_jobs(
      {.action = SlowPolicy::Action::kWait, .lag_rows = 1, .ring_rows = 1000});
  for (const std::uint64_t now_ns : {1 * kSecond, 3 * kSecond}) {
    EXPECT_THAT(slow_jobs.look(&kPass, {{job("slow"), 0, false}, {job("fast"), 640, true}}, now_ns),
                IsEmpty());
  }
}

}  // namespace
}  // namespace echoline::engine
