// Ranks concatenated are the batch, all ranks step alike, and the last batch goes as its policy
// says.
#include "plan/slice.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

JobShape random_job(Dice& dice) {
  JobShape job;
  job.world_size = static_cast<std::uint32_t>(dice.between(1, 9));
  job.batch_rows = job.world_size * static_cast<std::uint32_t>(dice.between(1, 9));
  job.last = static_cast<LastBatch>(dice.between(0, 2));
  return job;
}

TEST(Slice, RanksConcatenatedAreTheBatch) {
  Dice dice(51);
  for (int i = 0; i < scaled(20000); ++i) {
    const JobShape job = random_job(dice);
    const auto valid = static_cast<std::uint32_t>(dice.between(1, job.batch_rows));
    std::uint32_t next = 0;
    for (std::uint32_t rank = 0; rank < job.world_size; ++rank) {
      const RankSlice slice = slice_of(job, rank, valid);
      ASSERT_EQ(slice.begin, next);
      ASSERT_EQ(slice.begin, std::uint64_t{rank} * valid / job.world_size);
      next = slice.end;
      ASSERT_LE(slice.rows(), job.batch_rows / job.world_size);
      ASSERT_GT(slice.rows(), 0U) << "no rank is ever handed an empty batch";
      for (std::uint32_t row = 0; row < slice.rows(); ++row) {
        const std::uint32_t source = slice.source_row(row);
        ASSERT_LT(source, valid);
        const bool own = source >= slice.begin && source < slice.end;
        ASSERT_TRUE(own || (slice.valid() == 0 && source == 0));
      }
    }
    ASSERT_EQ(next, valid);
  }
}

TEST(Slice, PadAndTooFewRowsFillUpAndPartialDoesNot) {
  JobShape job{.batch_rows = 12, .world_size = 4, .last = LastBatch::kPad};
  EXPECT_EQ(slice_of(job, 0, 6).repeats, 2U);  // one row of its own
  EXPECT_EQ(slice_of(job, 1, 6).repeats, 1U);  // two
  EXPECT_EQ(slice_of(job, 0, 12).repeats, 0U);
  job.last = LastBatch::kPartial;
  EXPECT_EQ(slice_of(job, 1, 6).repeats, 0U);
  EXPECT_EQ(slice_of(job, 0, 3).repeats, 3U);  // no row of its own: three times the batch's first
  EXPECT_EQ(slice_of(job, 0, 3).source_row(2), 0U);
  EXPECT_EQ(slice_of(job, 3, 3).repeats, 2U);
  EXPECT_EQ(slice_of(job, 3, 3).source_row(2), 2U);
}

// What all ranks get of an epoch, from a row on, as (record, use) -> times; repeats left out.
std::map<std::pair<std::uint64_t, std::uint32_t>, int> delivered(const std::vector<RowUse>& rows,
                                                                 const JobShape& job,
                                                                 std::uint64_t first_row) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, int> times;
  for (std::uint64_t step = 0; step < step_count(job, rows.size(), first_row); ++step) {
    const std::uint32_t valid = rows_of_step(job, rows.size(), step, first_row);
    for (std::uint32_t rank = 0; rank < job.world_size; ++rank) {
      const RankSlice slice = slice_of(job, rank, valid);
      for (std::uint32_t row = 0; row < slice.valid(); ++row) {
        const RowUse& use = rows[first_row + step * job.batch_rows + slice.source_row(row)];
        ++times[{use.record, use.use}];
      }
    }
  }
  return times;
}

TEST(Slice, DeliversEveryRowOfAnEpochOnceOrUnderDropAllButTheTail) {
  Dice dice(52);
  for (int i = 0; i < scaled(3000); ++i) {
    PlanSpec spec = random_spec(dice, 60);
    if (spec.echo_point == EchoPoint::kBatch) continue;
    const auto rows = read_all(*Plan::create(spec).value()->epoch(0, {}));
    const JobShape job = random_job(dice);
    const std::uint64_t first = dice.chance(50) ? 0 : dice.between(0, rows.size());
    const auto times = delivered(rows, job, first);
    const std::uint64_t left = rows.size() - first;
    const std::uint64_t wanted =
        job.last == LastBatch::kDrop ? left / job.batch_rows * job.batch_rows : left;
    ASSERT_EQ(times.size(), wanted) << describe(spec);
    for (std::uint64_t row = first; row < first + wanted; ++row) {
      ASSERT_EQ(times.count({rows[row].record, rows[row].use}), 1U);
    }
    for (const auto& [use, count] : times) ASSERT_EQ(count, 1);
  }
}

TEST(Slice, RefusesAWorldThatDoesNotDivideTheBatchAndARankOutsideIt) {
  const Status status = check_job({.batch_rows = 10, .world_size = 4}, 0);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("world_size 4 does not divide"), std::string::npos);
  EXPECT_FALSE(check_job({.batch_rows = 10, .world_size = 5}, 5).ok());
  EXPECT_FALSE(check_job({.batch_rows = 0, .world_size = 1}, 0).ok());
  EXPECT_FALSE(check_job({.batch_rows = 4, .world_size = 0}, 0).ok());
  EXPECT_TRUE(check_job({.batch_rows = 10, .world_size = 5}, 4).ok());
}

}  // namespace
}  // namespace echoline::plan
