// If a spec is accepted, no batch has two uses of one record. If it is refused, the error names a
// window that is accepted.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "brute_force.h"
#include "plan/echo_shape.h"
#include "plan/spec_check.h"
#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

// The smallest distance in rows between two uses of one record.
std::uint64_t least_distance(const std::vector<RowUse>& rows) {
  std::map<std::uint64_t, std::uint64_t> last;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t row = 0; row < rows.size(); ++row) {
    const auto found = last.find(rows[row].record);
    if (found != last.end()) least = std::min(least, row - found->second);
    last[rows[row].record] = row;
  }
  return least;
}

bool a_batch_repeats(const std::vector<RowUse>& rows, std::uint64_t batch_rows) {
  std::map<std::uint64_t, std::uint64_t> step_of;
  for (std::uint64_t row = 0; row < rows.size(); ++row) {
    const std::uint64_t step = row / batch_rows + 1;
    if (std::exchange(step_of[rows[row].record], step) == step) return true;
  }
  return false;
}

TEST(Twins, NeverShareABatchOfTheStreamsGrid) {
  Dice dice(21);
  for (int i = 0; i < scaled(8000); ++i) {
    const PlanSpec spec = random_accepted_spec(dice, i % 8 == 0 ? 900 : 250);
    const auto plan = Plan::create(spec).value();
    const auto changes =
        dice.chance(60) ? random_changes(dice, *plan) : std::vector<FactorChange>{};
    const auto rows = read_all(*plan->epoch(static_cast<std::uint32_t>(i), changes));
    ASSERT_FALSE(a_batch_repeats(rows, spec.batch_rows)) << describe(spec);
  }
}

TEST(Twins, WithOneLaneAreAtLeastABatchApart) {
  Dice dice(22);
  for (int i = 0; i < scaled(5000); ++i) {
    PlanSpec spec = random_accepted_spec(dice, 250);
    if (spec.lanes > 1) continue;
    const auto plan = Plan::create(spec).value();
    const auto changes =
        dice.chance(60) ? random_changes(dice, *plan) : std::vector<FactorChange>{};
    const auto rows = read_all(*plan->epoch(static_cast<std::uint32_t>(i), changes));
    ASSERT_GE(least_distance(rows), spec.batch_rows) << describe(spec);
  }
}

TEST(Twins, RefusalNamesTheSmallestWindowAndThatOneIsAccepted) {
  Dice dice(23);
  int named = 0;
  for (int i = 0; i < scaled(20000); ++i) {
    PlanSpec spec = random_accepted_spec(dice, 300);
    const std::uint64_t least = smallest_window(echo_demand(spec, epoch_records(spec)));
    ASSERT_GT(least, 0U);
    if (least <= spec.lanes) continue;
    spec.echo_window = dice.chance(50) ? least - 1 : dice.between(spec.lanes, least - 1);
    const auto refused = Plan::create(spec);
    ASSERT_FALSE(refused.ok()) << describe(spec);
    const std::string message = refused.status().message();
    ASSERT_NE(message.find("echo.window"), std::string::npos);
    ASSERT_NE(message.find("accepted here is " + std::to_string(least) + ","), std::string::npos)
        << message << "\n"
        << describe(spec);
    spec.echo_window = least;
    ASSERT_TRUE(Plan::create(spec).ok()) << describe(spec);
    ++named;
  }
  EXPECT_GT(named, 0);
}

TEST(Twins, AnyWindowAboveTheSmallestIsAccepted) {
  Dice dice(24);
  for (int i = 0; i < scaled(20000); ++i) {
    PlanSpec spec = random_accepted_spec(dice, 300);
    spec.echo_window =
        smallest_window(echo_demand(spec, epoch_records(spec))) + dice.between(0, 400);
    ASSERT_TRUE(Plan::create(spec).ok()) << describe(spec);
  }
}

TEST(Twins, TheWindowThatTheDocumentationRecommendsIsAlwaysAccepted) {
  Dice dice(25);
  for (int i = 0; i < scaled(20000); ++i) {
    EchoDemand demand;
    demand.lanes = static_cast<std::uint32_t>(dice.between(1, 8));
    demand.batch_items = demand.lanes * dice.between(1, 300);
    demand.factor_max = static_cast<std::uint32_t>(dice.between(1000, 9000));
    const std::uint64_t passes = passes_of(demand.factor_max);
    const std::uint64_t share =
        demand.batch_items / demand.lanes + (demand.lanes > 1 ? passes + 1 : 0);
    demand.items = demand.lanes * (4 * share + dice.between(0, 5000));
    demand.window = demand.lanes * 3 * (passes - 1) * share;
    ASSERT_TRUE(keeps_twins_apart(demand)) << demand.items << " " << demand.window;
  }
}

TEST(Twins, TooFewRecordsAreRefusedWithTheNumberThatIsNeeded) {
  PlanSpec spec;
  spec.batch_rows = 64;
  spec.echo_point = EchoPoint::kSample;
  spec.factor = 2000;
  spec.echo_window = 1000;
  spec.shard_records = {127};
  const auto refused = Plan::create(spec);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("at least 128 are needed"), std::string::npos)
      << refused.status().message();
  spec.shard_records = {128};
  EXPECT_TRUE(Plan::create(spec).ok());
}

TEST(Twins, WithoutNeighbouringUsesInAWindowOfFourBatchesAtFactorTwo) {
  PlanSpec spec;
  spec.batch_rows = 128;
  spec.shuffle_window = kWindowAll;
  spec.echo_point = EchoPoint::kSample;
  spec.factor = 2000;
  spec.echo_window = 4 * 128;
  spec.shard_records = {60000};
  const auto rows = read_all(*Plan::create(spec).value()->epoch(0, {}));
  EXPECT_GE(least_distance(rows), 128U);
}

TEST(Twins, AllowedOnesStillKeepTheWindow) {
  Dice dice(26);
  for (int i = 0; i < scaled(3000); ++i) {
    PlanSpec spec = random_accepted_spec(dice, 250);
    spec.allow_repeats = true;
    spec.echo_window = dice.between(spec.lanes, 3 * spec.lanes + 5);
    const auto plan = Plan::create(spec);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto changes = random_changes(dice, *plan.value());
    const auto rows = read_all(*plan.value()->epoch(1, changes));
    ASSERT_LE(most_kept(rows, 0), spec.echo_window + spec.lanes) << describe(spec);
  }
}

}  // namespace
}  // namespace echoline::plan
