// Properties of every epoch: thousands of random configurations, compared with brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "brute_force.h"
#include "plan/factor_list.h"
#include "plan/spec_check.h"
#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

// Calls check(dice, plan, epoch number, changes, epoch) for random configurations, half of them
// with factor changes.
template <typename Check>
void for_random_epochs(std::uint64_t seed, int cases, const Check& check) {
  Dice dice(seed);
  for (int i = 0; i < scaled(cases) && !::testing::Test::HasFailure(); ++i) {
    const PlanSpec spec = random_spec(dice, i % 10 == 0 ? 500 : 80);
    const auto plan = Plan::create(spec).value();
    const auto number = static_cast<std::uint32_t>(dice.between(0, 3));
    const auto changes =
        dice.chance(50) ? random_changes(dice, *plan) : std::vector<FactorChange>{};
    SCOPED_TRACE(describe(spec) + " epoch " + std::to_string(number) + " changes " +
                 std::to_string(changes.size()));
    check(dice, *plan, number, changes, *plan->epoch(number, changes));
  }
}

TEST(Epoch, HoldsEveryUseOfEveryRecordOnceAsTheRunningSumOfFactorsSays) {
  for_random_epochs(1, 6000,
                    [](Dice&, const Plan& plan, std::uint32_t number, const auto& changes,
                       const EpochPlan& epoch) {
                      const PlanSpec& spec = plan.spec();
                      if (spec.echo_point == EchoPoint::kBatch) return;
                      const bool echoes = spec.echo_point != EchoPoint::kNone;
                      const auto expected = uses_of_epoch(
                          spec, number, echoes && !spec.within_step ? plan.block_count() : 1,
                          whole_list(changes, spec.factor));
                      ASSERT_EQ(expected.size(), epoch_records(spec));
                      std::map<std::uint64_t, std::uint32_t> seen;
                      for (const RowUse& row : read_all(epoch)) {
                        ASSERT_TRUE(row.valid);
                        ASSERT_EQ(row.use, seen[row.record]++) << "uses of a record come in order";
                        ASSERT_EQ(row.uses, expected.at(row.record));
                      }
                      ASSERT_EQ(seen, expected);
                    });
}

TEST(Epoch, HoldsFlooredRecordsTimesFactorRowsForAnyLanes) {
  for_random_epochs(
      2, 3000,
      [](Dice&, const Plan& plan, std::uint32_t, const auto& changes, const EpochPlan& epoch) {
        const PlanSpec& spec = plan.spec();
        const std::uint64_t items = spec.echo_point == EchoPoint::kBatch
                                        ? batch_count(spec, epoch_records(spec))
                                        : epoch_records(spec);
        const std::uint64_t each = spec.echo_point == EchoPoint::kBatch ? spec.batch_rows : 1;
        ASSERT_EQ(plan.rows_per_epoch(), items * spec.factor / 1000 * each);
        if (changes.empty()) {
          ASSERT_EQ(epoch.rows(), plan.rows_per_epoch());
        }
      });
}

TEST(Epoch, GivesTheSameRowsByRandomAndSequentialAccess) {
  for_random_epochs(
      3, 4000, [](Dice& dice, const Plan&, std::uint32_t, const auto&, const EpochPlan& epoch) {
        const auto rows = read_all(epoch);
        const auto same = [](const RowUse& a, const RowUse& b) {
          return a.record == b.record && a.use == b.use && a.uses == b.uses && a.valid == b.valid;
        };
        for (std::uint64_t row = 0; row < rows.size(); ++row) {
          ASSERT_TRUE(same(rows[row], epoch.at(row))) << "row " << row;
        }
        const std::uint64_t first = dice.between(0, rows.size());
        std::vector<RowUse> part(dice.between(0, rows.size() - first));
        epoch.read(first, part);
        for (std::size_t i = 0; i < part.size(); ++i) {
          ASSERT_TRUE(same(rows[first + i], part[i])) << "row " << first << " + " << i;
        }
      });
}

TEST(Epoch, HoldsNoMoreRecordsThanTheWindowInAWalkFromAnyRow) {
  for_random_epochs(
      4, 4000,
      [](Dice& dice, const Plan& plan, std::uint32_t, const auto&, const EpochPlan& epoch) {
        const PlanSpec& spec = plan.spec();
        if (spec.echo_point == EchoPoint::kBatch) return;
        const auto rows = read_all(epoch);
        const std::uint64_t kept =
            most_kept(rows, dice.chance(50) ? 0 : dice.between(0, rows.size()));
        ASSERT_LE(kept, plan.kept_max() + spec.lanes);
        if (spec.echo_point != EchoPoint::kNone) {
          ASSERT_LE(plan.kept_max(), spec.within_step ? spec.batch_rows : spec.echo_window);
        }
      });
}

TEST(Epoch, KeepsTheRowsBeforeAFactorChange) {
  for_random_epochs(5, 4000,
                    [](Dice& dice, const Plan& plan, std::uint32_t number, const auto& changes,
                       const EpochPlan& epoch) {
                      if (plan.block_count() == 0 || epoch.rows() == 0) return;
                      const std::uint64_t row = dice.between(0, epoch.rows() - 1);
                      const std::uint64_t block = epoch.next_block(row);
                      const auto factor =
                          static_cast<std::uint32_t>(dice.between(1000, plan.spec().factor_max));
                      std::vector<FactorChange> longer = changes;
                      longer.push_back({block, factor});
                      if (!plan.check_changes(longer).ok()) return;
                      const auto changed = plan.epoch(number, longer);
                      for (std::uint64_t i = 0; i < row; ++i) {
                        const RowUse before = epoch.at(i);
                        const RowUse after = changed->at(i);
                        ASSERT_EQ(before.record, after.record) << "row " << i << " of " << row;
                        ASSERT_EQ(before.use, after.use);
                        ASSERT_EQ(before.uses, after.uses);
                      }
                    });
}

TEST(Epoch, DependsOnlyOnSeedAndEpochNumber) {
  PlanSpec spec;
  spec.seed = 11;
  spec.batch_rows = 8;
  spec.shuffle_window = 100;
  spec.echo_point = EchoPoint::kSample;
  spec.factor = 2500;
  spec.echo_window = 400;
  spec.shard_records = {300, 200, 100};
  const auto ids = [](const PlanSpec& of, std::uint32_t epoch) {
    std::vector<std::uint64_t> records;
    for (const RowUse& row : read_all(*Plan::create(of).value()->epoch(epoch, {}))) {
      records.push_back(row.record);
    }
    return records;
  };
  EXPECT_EQ(ids(spec, 3), ids(spec, 3));
  EXPECT_NE(ids(spec, 3), ids(spec, 4));
  PlanSpec other = spec;
  other.seed = 12;
  EXPECT_NE(ids(spec, 3), ids(other, 3));
  // The order does not depend on where the pipeline repeats items, nor on the last batch.
  other = spec;
  other.echo_point = EchoPoint::kRecord;
  other.last = LastBatch::kPad;
  EXPECT_EQ(ids(spec, 3), ids(other, 3));
}

TEST(Epoch, OutlivesItsPlan) {
  PlanSpec spec;
  spec.batch_rows = 2;
  spec.shuffle_window = 3;
  spec.shard_records = {5, 6};
  auto epoch = Plan::create(spec).value()->epoch(0, {});
  std::set<std::uint64_t> records;
  for (const RowUse& row : read_all(*epoch)) records.insert(row.record);
  EXPECT_EQ(records.size(), 11U);
}

}  // namespace
}  // namespace echoline::plan
