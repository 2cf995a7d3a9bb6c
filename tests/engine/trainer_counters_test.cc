// Counters belong to a trainer, not to one of its attachments; losses to a job.
#include "engine/jobs/trainer_counters.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/jobs/reported_losses.h"

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

shm::LossFigures losses(std::uint64_t reports, std::uint64_t fresh_rows, double fresh_sum) {
  shm::LossFigures figures{};
  figures.reports = reports;
  figures.rows[0] = fresh_rows;
  figures.sums[0] = fresh_sum;
  return figures;
}

TEST(ReportedLosses, AddWhatIsNewOfEachTrainerOfAJob) {
  ReportedLosses reported;
  shm::LossFigures one{}, two{};
  reported.see("a", losses(1, 8, 4.0), one);
  reported.see("a", losses(1, 8, 4.0), one);
  reported.see("a", losses(2, 10, 5.5), one);
  reported.see("a", losses(1, 2, -1.0), two);
  reported.see("b", losses(0, 0, 0), two = {});
  ASSERT_EQ(reported.report().size(), 1U) << "b reports nothing";
  EXPECT_EQ(reported.report()[0].rows[0], 12U);
  EXPECT_EQ(reported.report()[0].sums[0], 4.5);
}

TEST(ReportedLosses, IgnoreImpossibleClaims) {
  ReportedLosses reported;
  shm::LossFigures seen{};
  reported.see("a", losses(1, 8, 4.0), seen);
  reported.see("a", losses(2, 9, std::numeric_limits<double>::infinity()), seen);
  reported.see("a", losses(3, 9, 5.0), seen);
  reported.see("a", losses(4, 1, 6.0), seen);
  EXPECT_EQ(reported.report()[0].rows[0], 9U) << "the look after an impossible one has the rest";
  EXPECT_EQ(reported.report()[0].sums[0], 5.0);
  for (std::uint64_t report = 5; report < 15; ++report) {
    reported.see("a", losses(report, report % 2 << 63, report % 2 == 0 ? -1e308 : 1e308), seen);
  }
  reported.see("a", losses(15, 10, std::numeric_limits<double>::quiet_NaN()), seen);
  reported.see("b", losses(1, 1, std::numeric_limits<double>::quiet_NaN()), seen = {});
  EXPECT_EQ(reported.report().size(), 1U) << "b has reported no loss";
  EXPECT_EQ(reported.report()[0].sums[0], 5.0);
  reported.see("a", losses(16, 10, 7.0), seen);
  EXPECT_EQ(reported.report()[0].rows[0], 19U) << "valid claims count again";
}

TEST(ReportedLosses, KeepTheJobsThatReportedLast) {
  ReportedLosses reported;
  for (std::size_t job = 0; job <= ReportedLosses::kJobsMax; ++job) {
    for (const std::string& name : {std::to_string(job), std::string("steady")}) {
      shm::LossFigures seen{};
      reported.see(name, losses(1, 1, 1), seen);
    }
  }
  const std::vector<ReportedLoss> jobs = reported.report();
  EXPECT_EQ(jobs.size(), ReportedLosses::kJobsMax);
  EXPECT_EQ(jobs.back().job, "steady");
  EXPECT_EQ(jobs.back().rows[0], ReportedLosses::kJobsMax + 1);
}

}  // namespace
}  // namespace echoline::engine
