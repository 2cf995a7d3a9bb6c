// Echo is not a repeated epoch: fresh rows are spread evenly, the uses of a record are far apart,
// and adjacent records do not stay adjacent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "brute_force.h"
#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

PlanSpec fashion(std::uint32_t factor) {
  PlanSpec spec;
  spec.seed = 7;
  spec.batch_rows = 128;
  spec.shuffle_window = 10000;
  spec.echo_point = EchoPoint::kSample;
  spec.factor = factor;
  spec.echo_window = 10000;
  spec.shard_records = std::vector<std::uint64_t>(60, 1000);
  return spec;
}

// Checks the number of fresh rows in each batch, except for the first and the last `window`
// records.
void expect_even_fresh_rows(const PlanSpec& spec, const std::vector<RowUse>& rows) {
  const double share = spec.batch_rows * 1000.0 / spec.factor;
  const std::uint64_t border = spec.echo_window * spec.factor / 1000 + 1;
  const std::uint64_t first = (border + spec.batch_rows - 1) / spec.batch_rows;
  for (std::uint64_t step = first; (step + 1) * spec.batch_rows + border <= rows.size(); ++step) {
    std::uint64_t fresh = 0;
    for (std::uint64_t i = 0; i < spec.batch_rows; ++i) {
      fresh += rows[step * spec.batch_rows + i].fresh();
    }
    ASSERT_LE(std::abs(static_cast<double>(fresh) - share), 2.0 * spec.lanes)
        << describe(spec) << " step " << step;
  }
}

TEST(Echo, SpreadsFreshRowsEvenlyOverTheMiddleOfAnEpoch) {
  Dice dice(31);
  for (int i = 0; i < scaled(1500); ++i) {
    PlanSpec spec = random_accepted_spec(dice, 2000);
    spec.factor_max = dice.chance(70) ? spec.factor : spec.factor_max;
    const auto plan = Plan::create(spec);
    if (!plan.ok()) continue;
    expect_even_fresh_rows(spec, read_all(*plan.value()->epoch(0, {})));
  }
}

TEST(Echo, SpreadsFreshRowsEvenlyInAStreamOfRealSize) {
  for (const std::uint32_t factor : {1500U, 2000U, 2500U, 4000U}) {
    const PlanSpec spec = fashion(factor);
    expect_even_fresh_rows(spec, read_all(*Plan::create(spec).value()->epoch(0, {})));
  }
}

TEST(Echo, KeepsUsesApartByTheWindow) {
  const PlanSpec spec = fashion(4000);
  const auto rows = read_all(*Plan::create(spec).value()->epoch(0, {}));
  std::vector<std::uint64_t> last(60000, 0);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), most = 0, pairs = 0;
  double sum = 0;
  for (std::uint64_t row = 0; row < rows.size(); ++row) {
    if (rows[row].use > 0) {
      const std::uint64_t apart = row - last[rows[row].record];
      least = std::min(least, apart);
      most = std::max(most, apart);
      sum += static_cast<double>(apart);
      ++pairs;
    }
    last[rows[row].record] = row;
  }
  // Blocks of 10000 / 6 records: one to three super-blocks of at most four times that many rows.
  EXPECT_GE(least, 1600U);
  EXPECT_LE(most, 20004U);
  EXPECT_NEAR(sum / static_cast<double>(pairs), 12150, 600);
  EXPECT_LE(most_kept(rows, 0), 10000U);
  EXPECT_GE(most_kept(rows, 0), 9000U) << "the window is used";
}

TEST(Echo, SeparatesAdjacentRecords) {
  const PlanSpec spec = fashion(4000);
  const auto rows = read_all(*Plan::create(spec).value()->epoch(0, {}));
  std::vector<std::uint64_t> second(60000, 0);
  for (std::uint64_t row = 0; row < rows.size(); ++row) {
    if (rows[row].use == 1) second[rows[row].record] = row / 128;
  }
  std::uint64_t pairs = 0, met = 0, previous = rows[0].record;
  for (std::uint64_t row = 1; row < rows.size(); ++row) {
    if (!rows[row].fresh()) continue;
    ++pairs;
    met += second[rows[row].record] == second[previous];
    previous = rows[row].record;
  }
  // The second uses of a block are spread over about 6,700 rows, or 52 batches.
  EXPECT_LT(static_cast<double>(met) / static_cast<double>(pairs), 2.0 / 52);
}

TEST(Echo, HasNoCorrelationBetweenTheOrdersOfFirstAndSecondUses) {
  const PlanSpec spec = fashion(2000);
  const auto rows = read_all(*Plan::create(spec).value()->epoch(0, {}));
  std::vector<std::uint64_t> rank(60000, 0);
  std::uint64_t firsts = 0, seconds = 0, same = 0;
  for (const RowUse& row : rows) {
    if (row.fresh()) {
      rank[row.record] = firsts++;
    } else {
      same += rank[row.record] == seconds++;
    }
  }
  EXPECT_LT(same, 60U);  // by chance: one in a block of 5,000
}

TEST(Echo, MixesDifferentlyInEachEpochEvenWithoutAShuffle) {
  PlanSpec spec = fashion(2000);
  spec.shuffle_window = 0;
  const auto plan = Plan::create(spec).value();
  const auto first = read_all(*plan->epoch(0, {}));
  const auto second = read_all(*plan->epoch(1, {}));
  std::uint64_t same = 0;
  for (std::size_t row = 0; row < first.size(); ++row) {
    same += first[row].record == second[row].record;
  }
  EXPECT_LT(same, 120U);  // by chance: about one in a block of 5,000 in each pass
}

TEST(Echo, WithAFactorOfOneUsesEachRecordOnce) {
  PlanSpec spec = fashion(1000);
  spec.factor_max = 3000;
  std::map<std::uint64_t, int> seen;
  for (const RowUse& row : read_all(*Plan::create(spec).value()->epoch(0, {}))) {
    EXPECT_EQ(row.uses, 1U);
    ++seen[row.record];
  }
  EXPECT_EQ(seen.size(), 60000U);
}

TEST(Echo, FollowsAChangeOfTheFactorWithinTheEpoch) {
  PlanSpec spec = fashion(2000);
  spec.factor_max = 4000;
  const auto plan = Plan::create(spec).value();
  const std::uint64_t middle = plan->block_count() / 2;
  const std::vector<FactorChange> changes{{middle, 4000}};
  ASSERT_TRUE(plan->check_changes(changes).ok());
  std::uint64_t twice = 0, fourfold = 0;
  for (const RowUse& row : read_all(*plan->epoch(0, changes))) {
    if (row.fresh()) ++(row.uses == 2 ? twice : fourfold);
  }
  EXPECT_EQ(twice + fourfold, 60000U);
  EXPECT_NEAR(static_cast<double>(twice),
              60000.0 * static_cast<double>(middle) / static_cast<double>(plan->block_count()),
              1700);
}

}  // namespace
}  // namespace echoline::plan
