// echo.spread: step: all uses of a record are in one batch, and different ranks have them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

// Calls check(spec, rows of an epoch) for random configurations.
template <typename Check>
void for_random_epochs(std::uint64_t seed, int cases, const Check& check) {
  Dice dice(seed);
  for (int i = 0; i < scaled(cases) && !::testing::Test::HasFailure(); ++i) {
    const PlanSpec spec = random_spec_within_steps(dice, i % 10 == 0 ? 500 : 80);
    SCOPED_TRACE(describe(spec));
    const auto plan = Plan::create(spec).value();
    check(spec, read_all(*plan->epoch(static_cast<std::uint32_t>(dice.between(0, 3)), {})));
  }
}

TEST(WithinStep, EachRecordHasAllItsUsesInOneBatch) {
  for_random_epochs(31, 2000, [](const PlanSpec& spec, const std::vector<RowUse>& rows) {
    std::map<std::uint64_t, std::vector<std::uint64_t>> steps;
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      std::vector<std::uint64_t>& of = steps[rows[row].record];
      ASSERT_EQ(rows[row].use, of.size()) << "row " << row;
      ASSERT_EQ(rows[row].uses, spec.factor / 1000);
      of.push_back(row / spec.batch_rows);
    }
    ASSERT_EQ(steps.size(), epoch_records(spec));
    for (const auto& [record, of] : steps) {
      ASSERT_EQ(of.size(), spec.factor / 1000) << "record " << record;
      ASSERT_EQ(of.front(), of.back()) << "record " << record;
    }
  });
}

// Whether one of `ranks` ranks has two uses of a record in whole batches.
bool a_rank_repeats(const PlanSpec& spec, const std::vector<RowUse>& rows, std::uint64_t ranks) {
  const std::uint64_t part = spec.batch_rows / ranks;
  for (std::uint64_t first = 0; first + part <= rows.size(); first += part) {
    if (first / spec.batch_rows >= rows.size() / spec.batch_rows) return false;
    std::set<std::uint64_t> seen;
    for (std::uint64_t row = first; row < first + part; ++row) {
      if (!seen.insert(rows[row].record).second) return true;
    }
  }
  return false;
}

TEST(WithinStep, NoRankHasTwoUsesOfARecordWhereThereAreAsManyRanksAsUses) {
  for_random_epochs(32, 2000, [](const PlanSpec& spec, const std::vector<RowUse>& rows) {
    const std::uint64_t uses = spec.factor / 1000;
    for (std::uint64_t ranks = spec.lanes * uses; ranks <= spec.batch_rows; ++ranks) {
      if (spec.batch_rows % ranks != 0) continue;
      ASSERT_FALSE(a_rank_repeats(spec, rows, ranks)) << ranks << " ranks";
    }
    // Fewer ranks than uses must share them.
    if (uses > 1 && rows.size() >= spec.batch_rows) {
      ASSERT_TRUE(a_rank_repeats(spec, rows, 1));
    }
  });
}

TEST(WithinStep, ABatchHasTheRecordsOfASmallerBatchWithoutEcho) {
  for_random_epochs(33, 1000, [](const PlanSpec& spec, const std::vector<RowUse>& rows) {
    // Which entries of a list a lane has depends on the size of a batch.
    if (spec.order != nullptr) return;
    PlanSpec plain = spec;
    plain.echo_point = EchoPoint::kNone;
    plain.factor = plain.factor_max = 1000;
    plain.within_step = false;
    plain.batch_rows = spec.batch_rows / (spec.factor / 1000);
    plain.last = LastBatch::kPartial;
    const auto plan = Plan::create(plain).value();
    for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
      const auto expected = read_all(*plan->epoch(epoch, {}));
      const auto found = read_all(*Plan::create(spec).value()->epoch(epoch, {}));
      std::map<std::uint64_t, std::uint64_t> step_of;
      for (std::uint64_t row = 0; row < found.size(); ++row) {
        step_of[found[row].record] = row / spec.batch_rows;
      }
      for (std::uint64_t row = 0; row < expected.size(); ++row) {
        ASSERT_EQ(step_of.at(expected[row].record), row / plain.batch_rows) << "row " << row;
      }
    }
    ASSERT_EQ(rows.size(), epoch_records(spec) * (spec.factor / 1000));
  });
}

}  // namespace
}  // namespace echoline::plan
