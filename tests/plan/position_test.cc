// Positions: one form at an epoch's border, and resuming under other batch sizes without gap or
// repeat.
#include "plan/position.h"

#include <gtest/gtest.h>

#include <vector>

#include "plan/slice.h"
#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

TEST(Position, AtTheEndOfAnEpochIsTheBeginningOfTheNext) {
  EXPECT_EQ(normalise({.epoch = 3, .row = 100}, 100).value(), (Position{.epoch = 4, .row = 0}));
  EXPECT_EQ(normalise({.epoch = 3, .row = 99}, 100).value(), (Position{.epoch = 3, .row = 99}));
  EXPECT_EQ(normalise({.epoch = 3, .row = 0}, 100).value(), (Position{.epoch = 3, .row = 0}));
  const auto beyond = normalise({.epoch = 3, .row = 101}, 100);
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.status().code(), Code::kInvalidArgument);
}

TEST(Position, AfterTheLastBatchIsTheNextEpochUnderEveryPolicy) {
  EXPECT_EQ(after_batch({.row = 80}, 99, 10, LastBatch::kDrop), (Position{.epoch = 1}));
  EXPECT_EQ(after_batch({.row = 80}, 99, 10, LastBatch::kPartial), (Position{.row = 90}));
  EXPECT_EQ(after_batch({.row = 90}, 99, 10, LastBatch::kPartial), (Position{.epoch = 1}));
  EXPECT_EQ(after_batch({.row = 90}, 99, 10, LastBatch::kPad), (Position{.epoch = 1}));
  EXPECT_EQ(after_batch({.row = 80}, 90, 10, LastBatch::kDrop), (Position{.epoch = 1}));
}

TEST(Position, ResumedUnderALargerBatchThanIsLeftGoesOnWithTheNextEpoch) {
  EXPECT_EQ(next_batch({.epoch = 2, .row = 80}, 99, 30, LastBatch::kDrop), (Position{.epoch = 3}));
  EXPECT_EQ(next_batch({.epoch = 2, .row = 80}, 99, 30, LastBatch::kPad),
            (Position{.epoch = 2, .row = 80}));
}

TEST(Position, WalkedUnderChangingBatchSizesMissesAndRepeatsNothing) {
  Dice dice(61);
  for (int i = 0; i < scaled(5000); ++i) {
    const std::uint64_t rows = dice.between(1, 200);
    Position position;
    std::uint64_t expected = 0;
    while (position.epoch == 0) {
      const JobShape job{.batch_rows = static_cast<std::uint32_t>(dice.between(1, 20)),
                         .last = dice.chance(50) ? LastBatch::kPartial : LastBatch::kPad};
      ASSERT_EQ(position.row, expected);
      expected += rows_of_step(job, rows, 0, position.row);
      position = after_batch(position, rows, job.batch_rows, job.last);
    }
    ASSERT_EQ(expected, rows);
    ASSERT_EQ(position, (Position{.epoch = 1}));
  }
}

TEST(Position, CountsAsManyBatchesAsTheEpochHasSteps) {
  Dice dice(62);
  for (int i = 0; i < scaled(5000); ++i) {
    const std::uint64_t rows = dice.between(1, 300);
    const JobShape job{.batch_rows = static_cast<std::uint32_t>(dice.between(1, 40)),
                       .last = static_cast<LastBatch>(dice.between(0, 2))};
    const std::uint64_t first = dice.between(0, rows - 1);
    Position position = next_batch({.row = first}, rows, job.batch_rows, job.last);
    std::uint64_t steps = 0;
    for (; position.epoch == 0; ++steps) {
      position = after_batch(position, rows, job.batch_rows, job.last);
    }
    ASSERT_EQ(steps, step_count(job, rows, first));
  }
}

}  // namespace
}  // namespace echoline::plan
