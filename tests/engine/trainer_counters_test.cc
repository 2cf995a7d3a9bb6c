// Counters belong to a trainer, not to one of its attachments.
#include "engine/jobs/trainer_counters.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

const Job kJob{.name = "a", .world_size = 2, .batch_size = 8};

TrainerCounters counters(std::uint64_t batches) {
  return {
      .wait_ns = {batches, 0, 0, 10 * batches, 0}, .batches = batches, .device = {1, 2, 3, 4, 5}};
}

TEST(DetachedCounters, ContinueWhenTheTrainerAttachesAgain) {
  DetachedCounters detached;
  detached.keep(kJob, 0, counters(3), /*moving=*/true, 100);
  const DetachedCounters::Kept kept = detached.take(kJob, 0, 200);
  EXPECT_EQ(kept.counters.batches, 3U);
  EXPECT_EQ(kept.counters.wait_ns[3], 30U);
  EXPECT_EQ(kept.counters.device.wait_ns, 5U);
  EXPECT_TRUE(kept.moving);
  EXPECT_EQ(detached.take(kJob, 0, 200).counters.batches, 0U) << "they are the new attachment's";
}

TEST(DetachedCounters, AreThoseOfOneJobAndRank) {
  DetachedCounters detached;
  detached.keep(kJob, 0, counters(3), false, 100);
  EXPECT_EQ(detached.take(kJob, 1, 200).counters.batches, 0U);
  Job other = kJob;
  other.batch_size = 4;
  EXPECT_EQ(detached.take(other, 0, 200).counters.batches, 0U);
}

TEST(DetachedCounters, SumWhereTwoTrainersOfOneRankDetach) {
  DetachedCounters detached;
  detached.keep(kJob, 0, counters(3), false, 100);
  detached.keep(kJob, 0, counters(4), false, 100);
  EXPECT_EQ(detached.take(kJob, 0, 200).counters.batches, 7U);
}

TEST(DetachedCounters, AreBoundedByTimeAndNumber) {
  DetachedCounters detached;
  detached.keep(kJob, 0, counters(3), false, 100);
  EXPECT_EQ(detached.take(kJob, 0, 100 + DetachedCounters::kKeepNs).counters.batches, 0U);
  for (std::uint32_t rank = 0; rank < DetachedCounters::kTrainersMax + 10; ++rank) {
    detached.keep(kJob, rank, counters(1), false, rank);
  }
  EXPECT_EQ(detached.size(), DetachedCounters::kTrainersMax);
  EXPECT_EQ(detached.take(kJob, 9, 2000).counters.batches, 0U) << "the oldest went first";
  EXPECT_EQ(detached.take(kJob, 10, 2000).counters.batches, 1U);
}

}  // namespace
}  // namespace echoline::engine
