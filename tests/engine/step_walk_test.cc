// The batches of a pass equal the plan's rows, for every echo point, last-batch policy and start.
#include "engine/walk/step_walk.h"

#include <gtest/gtest.h>

#include <tuple>

namespace echoline::engine {
namespace {

using plan::EchoPoint;
using plan::LastBatch;

std::unique_ptr<plan::Plan> make_plan(EchoPoint point, LastBatch last,
                                      std::uint64_t records = 103) {
  plan::PlanSpec spec;
  spec.seed = 7;
  spec.batch_rows = 10;
  spec.shuffle_window = 20;
  spec.echo_point = point;
  spec.factor = spec.factor_max = point == EchoPoint::kNone ? 1000 : 2500;
  spec.echo_window = point == EchoPoint::kBatch ? 3 : 60;
  spec.allow_repeats = true;
  spec.last = last;
  spec.shard_records = {50, records - 50};
  auto plan = plan::Plan::create(spec);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return std::move(plan).value();
}

class EveryPolicy : public testing::TestWithParam<std::tuple<EchoPoint, LastBatch>> {};

TEST_P(EveryPolicy, WalksEachEpochsRowsOnceInOrder) {
  const auto [point, last] = GetParam();
  const auto plan = make_plan(point, last);
  StepWalk walk(*plan, {}, OrderHistory(*plan), false);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    const auto order = plan->epoch(epoch, {});
    std::uint64_t row = 0;
    while (true) {
      const Step step = walk.next();
      ASSERT_EQ(step.start, (plan::Position{epoch, row}));
      for (std::uint32_t i = 0; i < step.rows; ++i) {
        ASSERT_EQ(step.uses[i].record, order->at(row + i).record);
        ASSERT_EQ(step.uses[i].use, order->at(row + i).use);
      }
      row += point == EchoPoint::kBatch ? 10 : step.rows;
      if (step.end_of_epoch) break;
    }
    const std::uint64_t rows = order->rows();
    EXPECT_EQ(row, last == LastBatch::kDrop ? rows / 10 * 10 : rows);
  }
}

TEST_P(EveryPolicy, ResumedGoesOnWithTheSameSteps) {
  const auto [point, last] = GetParam();
  const auto plan = make_plan(point, last);
  StepWalk whole(*plan, {}, OrderHistory(*plan), false);
  std::vector<Step> steps;
  for (int i = 0; i < 60; ++i) steps.push_back(whole.next());
  for (std::size_t from = 0; from < steps.size(); from += 7) {
    StepWalk resumed(*plan, steps[from].start, OrderHistory(*plan), false);
    for (std::size_t i = from; i < steps.size(); ++i) {
      const Step step = resumed.next();
      ASSERT_EQ(step.start, steps[i].start);
      ASSERT_EQ(step.end_of_epoch, steps[i].end_of_epoch);
      ASSERT_EQ(step.rows, steps[i].rows);
      for (std::uint32_t row = 0; row < step.rows; ++row) {
        ASSERT_EQ(step.uses[row].record, steps[i].uses[row].record);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryPolicy,
    testing::Combine(testing::Values(EchoPoint::kNone, EchoPoint::kRecord, EchoPoint::kSample,
                                     EchoPoint::kAugmented, EchoPoint::kBatch),
                     testing::Values(LastBatch::kDrop, LastBatch::kPartial, LastBatch::kPad)));

TEST(StepWalk, WalksTheTailUnderDropForJobsOfOtherBatchSizes) {
  const auto plan = make_plan(EchoPoint::kNone, LastBatch::kDrop);
  StepWalk walk(*plan, {0, 100}, OrderHistory(*plan), true);
  const Step tail = walk.next();
  EXPECT_EQ(tail.rows, 3U);
  EXPECT_TRUE(tail.end_of_epoch);
  EXPECT_EQ(walk.next().start, (plan::Position{1, 0}));
}

TEST(StepWalk, WalksTailsFromTheEpochOnAfterTheLastThatEndedWithRowsLeft) {
  const auto plan = make_plan(EchoPoint::kNone, LastBatch::kDrop);
  StepWalk walk(*plan, {0, 90}, OrderHistory(*plan), false);
  EXPECT_EQ(walk.tails_from(), 0U);
  EXPECT_TRUE(walk.next().end_of_epoch);
  EXPECT_EQ(walk.tails_from(), 1U) << "that batch has been called its last";
  walk.walk_tails();
  for (int batch = 0; batch < 10; ++batch) EXPECT_FALSE(walk.next().end_of_epoch);
  const Step tail = walk.next();
  EXPECT_EQ(tail.start, (plan::Position{1, 100}));
  EXPECT_EQ(tail.rows, 3U);
  EXPECT_TRUE(tail.end_of_epoch);
}

TEST(StepWalk, OffTheGridEndsWithNothingLeftForWhoReadsOnIt) {
  const auto plan = make_plan(EchoPoint::kNone, LastBatch::kDrop);
  StepWalk walk(*plan, {0, 85}, OrderHistory(*plan), false);
  EXPECT_FALSE(walk.next().end_of_epoch);
  const Step last = walk.next();
  EXPECT_EQ(last.start, (plan::Position{0, 95}));
  EXPECT_EQ(last.rows, 8U) << "rows 95 to 100 are of the grid's last batch";
  EXPECT_TRUE(last.end_of_epoch);
  EXPECT_EQ(walk.tails_from(), 0U);
}

TEST(StepWalk, RowsPassedOverOnTheWayInAreGoneForThatEpoch) {
  const auto plan = make_plan(EchoPoint::kNone, LastBatch::kDrop);
  const StepWalk walk(*plan, {0, 100}, OrderHistory(*plan), false);
  EXPECT_EQ(walk.position(), (plan::Position{1, 0}));
  EXPECT_EQ(walk.tails_from(), 1U);
}

TEST(StepWalk, MarksBatchesThatStandInASlotAlready) {
  const auto plan = make_plan(EchoPoint::kBatch, LastBatch::kDrop);
  StepWalk walk(*plan, {}, OrderHistory(*plan), false);
  for (int i = 0; i < 50; ++i) {
    const Step step = walk.next();
    EXPECT_EQ(step.repeats_earlier, step.batch.use > 0);
  }
}

}  // namespace
}  // namespace echoline::engine
