// Compares the rows of a step with those of the whole epoch.
#include "plan/step_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace echoline::plan {
namespace {

using testing::HasSubstr;

std::unique_ptr<Plan> plan_of(EchoPoint point, LastBatch last) {
  PlanSpec spec;
  spec.seed = 5;
  spec.batch_rows = 8;
  spec.shuffle_window = kWindowAll;
  spec.echo_point = point;
  spec.factor = 2000;
  spec.echo_window = point == EchoPoint::kBatch ? 2 : 64;
  spec.last = last;
  spec.shard_records = {50, 51};
  return Plan::create(spec).value();
}

// For every batch size: all steps together are the epoch.
TEST(StepRows, StepsTogetherAreTheEpoch) {
  const auto plan = plan_of(EchoPoint::kSample, LastBatch::kPartial);
  const auto epoch = plan->epoch(3, {});
  for (const std::uint32_t size : {0U, 1U, 5U, 8U, 300U}) {
    std::uint64_t row = 0;
    for (std::uint64_t step = 0; row < epoch->rows(); ++step) {
      const auto rows = rows_of_step(*plan, 3, step, size);
      ASSERT_TRUE(rows.ok()) << rows.status().message();
      for (const RowUse& use : *rows) {
        const RowUse expected = epoch->at(row++);
        EXPECT_EQ(use.record, expected.record);
        EXPECT_EQ(use.use, expected.use);
      }
    }
    EXPECT_EQ(row, 202U);
  }
}

TEST(StepRows, WithDropAShortBatchIsNotAStep) {
  const auto plan = plan_of(EchoPoint::kSample, LastBatch::kDrop);
  EXPECT_EQ(rows_of_step(*plan, 0, 24, 0)->size(), 8U);
  EXPECT_THAT(rows_of_step(*plan, 0, 25, 0).status().message(), HasSubstr("an epoch has 25"));
}

TEST(StepRows, UnderBatchEchoMissingRowsOfAShortBatchAreLeftOut) {
  const auto plan = plan_of(EchoPoint::kBatch, LastBatch::kPartial);
  const std::uint64_t steps = plan->rows_per_epoch() / 8;
  std::uint64_t rows = 0;
  for (std::uint64_t step = 0; step < steps; ++step)
    rows += rows_of_step(*plan, 0, step, 8)->size();
  EXPECT_EQ(rows, 202U);
  EXPECT_THAT(rows_of_step(*plan, 0, 0, 4).status().message(), HasSubstr("batches of 8 only"));
}

TEST(StepRows, AnEpochThatNoStreamReachesIsRefused) {
  const auto plan = plan_of(EchoPoint::kSample, LastBatch::kPartial);
  EXPECT_FALSE(rows_of_step(*plan, ~0U, 0, 0).ok());
}

}  // namespace
}  // namespace echoline::plan
