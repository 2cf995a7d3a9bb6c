// Batch echo repeats whole batches, including a short one, and changes nothing else.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "brute_force.h"
#include "plan/factor_list.h"
#include "plan/spec_check.h"
#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

PlanSpec random_batch_spec(Dice& dice) {
  PlanSpec spec;
  do {
    spec = random_spec(dice, 150);
  } while (spec.echo_point != EchoPoint::kBatch);
  return spec;
}

std::vector<RowUse> read_fresh(const PlanSpec& spec, std::uint32_t epoch) {
  PlanSpec plain = spec;
  plain.echo_point = EchoPoint::kNone;
  plain.factor = 1000;
  plain.last = LastBatch::kPartial;
  return read_all(*Plan::create(plain).value()->epoch(epoch, {}));
}

// The results of batch_at for all steps.
std::vector<RowUse> batches(const EpochPlan& epoch, std::uint64_t batch_rows) {
  std::vector<RowUse> steps;
  for (std::uint64_t step = 0; step < epoch.rows() / batch_rows; ++step) {
    steps.push_back(epoch.batch_at(step));
  }
  return steps;
}

TEST(BatchEcho, UsesEveryBatchAsOftenAsTheRunningSumOfFactorsSays) {
  Dice dice(41);
  for (int i = 0; i < scaled(2500); ++i) {
    const PlanSpec spec = random_batch_spec(dice);
    const auto plan = Plan::create(spec).value();
    const auto changes = random_changes(dice, *plan);
    const std::uint64_t count = batch_count(spec, epoch_records(spec));
    const auto expected =
        uses_of_lane(0, count, plan->block_count(), whole_list(changes, spec.factor));
    std::vector<std::uint32_t> seen(count, 0);
    for (const RowUse& use : batches(*plan->epoch(1, changes), spec.batch_rows)) {
      ASSERT_EQ(use.use, seen[use.record]++);
      ASSERT_EQ(use.uses, expected[use.record]) << describe(spec);
    }
    ASSERT_EQ(seen, expected) << describe(spec);
  }
}

TEST(BatchEcho, RepeatsTheRowsOfTheOrderWithoutEchoAndMarksMissingRows) {
  Dice dice(42);
  for (int i = 0; i < scaled(2500); ++i) {
    const PlanSpec spec = random_batch_spec(dice);
    const auto plan = Plan::create(spec).value();
    const auto epoch = plan->epoch(2, {});
    const auto fresh = read_fresh(spec, 2);
    const auto rows = read_all(*epoch);
    ASSERT_EQ(rows.size(), plan->rows_per_epoch());
    ASSERT_EQ(rows.size() % spec.batch_rows, 0U);
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      const std::uint64_t step = row / spec.batch_rows;
      const RowUse batch = epoch->batch_at(step);
      const std::uint64_t from = batch.record * spec.batch_rows + row % spec.batch_rows;
      ASSERT_EQ(rows[row].valid, from < fresh.size()) << describe(spec);
      ASSERT_EQ(rows[row].valid, row % spec.batch_rows < epoch->valid_rows(step));
      ASSERT_EQ(rows[row].use, batch.use);
      ASSERT_EQ(rows[row].uses, batch.uses);
      if (rows[row].valid) {
        ASSERT_EQ(rows[row].record, fresh[from].record);
      }
    }
  }
}

TEST(BatchEcho, KeepsNoMoreBatchesThanTheWindowFromAnyStepOn) {
  Dice dice(43);
  for (int i = 0; i < scaled(2500); ++i) {
    const PlanSpec spec = random_batch_spec(dice);
    const auto plan = Plan::create(spec).value();
    const auto steps = batches(*plan->epoch(0, random_changes(dice, *plan)), spec.batch_rows);
    ASSERT_LE(most_kept(steps, dice.between(0, steps.size())), spec.echo_window + 1)
        << describe(spec);
  }
}

PlanSpec stream_of_batches(std::uint32_t factor, std::uint64_t window) {
  PlanSpec spec;
  spec.batch_rows = 10;
  spec.shuffle_window = kWindowAll;
  spec.echo_point = EchoPoint::kBatch;
  spec.factor = factor;
  spec.echo_window = window;
  spec.last = LastBatch::kPad;
  spec.shard_records = {995};
  return spec;
}

TEST(BatchEcho, WithAWindowOfOneRepeatsBackToBackAndEndsWithTheShortBatch) {
  for (const std::uint32_t factor : {1000U, 1500U, 2000U, 3700U, 8000U}) {
    const auto epoch = Plan::create(stream_of_batches(factor, 1)).value()->epoch(0, {});
    std::uint64_t expected = 0;
    std::uint32_t use = 0;
    for (const RowUse& step : batches(*epoch, 10)) {
      ASSERT_EQ(step.record, expected);
      ASSERT_EQ(step.use, use);
      if (++use == step.uses) {
        use = 0;
        ++expected;
      }
    }
    EXPECT_EQ(expected, 100U);
    EXPECT_EQ(epoch->valid_rows(epoch->rows() / 10 - 1), 5U);
  }
}

TEST(BatchEcho, WithALargerWindowMixesAmongThatManyBatches) {
  const auto epoch = Plan::create(stream_of_batches(4000, 12)).value()->epoch(0, {});
  const auto steps = batches(*epoch, 10);
  std::map<std::uint64_t, std::uint64_t> last;
  std::uint64_t at_once = 0;
  for (std::uint64_t step = 0; step < steps.size(); ++step) {
    if (steps[step].use > 0) at_once += step - last[steps[step].record] < 2;
    last[steps[step].record] = step;
  }
  EXPECT_EQ(at_once, 0U);
  EXPECT_GE(most_kept(steps, 0), 10U);
}

TEST(BatchEcho, DropsTheShortBatchWithAllItsUses) {
  PlanSpec spec = stream_of_batches(2000, 4);
  spec.last = LastBatch::kDrop;
  const auto plan = Plan::create(spec).value();
  EXPECT_EQ(plan->rows_per_epoch(), 99U * 2 * 10);
  for (const RowUse& row : read_all(*plan->epoch(0, {}))) ASSERT_TRUE(row.valid);
}

}  // namespace
}  // namespace echoline::plan
