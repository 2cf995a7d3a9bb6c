// Small numbers, so that borders and remainders occur in all combinations.
#include "random_spec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "plan/echo_shape.h"
#include "plan/factor_list.h"
#include "plan/spec_check.h"

#if defined(ECHOLINE_SANITIZE_ADDRESS) || defined(ECHOLINE_SANITIZE_THREAD)
#define ECHOLINE_TEST_SANITIZED 1
#else
#define ECHOLINE_TEST_SANITIZED 0
#endif

namespace echoline::plan::testing {
namespace {

std::vector<std::uint64_t> random_shards(Dice& dice, std::uint64_t records) {
  if (dice.chance(20)) {
    const std::uint64_t size = dice.between(1, records);
    return std::vector<std::uint64_t>(records / size, size);
  }
  std::vector<std::uint64_t> shards;
  for (std::uint64_t left = records; left > 0; left -= shards.back()) {
    shards.push_back(dice.between(dice.chance(10) ? 0 : 1, left));
  }
  return shards;
}

std::uint32_t random_factor(Dice& dice) {
  const auto whole = static_cast<std::uint32_t>(dice.between(1, dice.chance(5) ? 12 : 5) * 1000);
  return dice.chance(40) ? whole : whole + static_cast<std::uint32_t>(dice.between(1, 999));
}

std::uint64_t random_shuffle_window(Dice& dice, std::uint64_t records) {
  switch (dice.between(0, 4)) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return kWindowAll;
    default:
      return dice.between(2, records + 5);
  }
}

PlanSpec random_stream(Dice& dice, std::uint64_t records_max) {
  PlanSpec spec;
  spec.seed = dice.between(0, ~std::uint64_t{0} - 1);
  spec.shard_records = random_shards(dice, dice.between(1, records_max));
  spec.lanes = static_cast<std::uint32_t>(dice.chance(40) ? 1 : dice.between(1, 5));
  spec.batch_rows = spec.lanes * static_cast<std::uint32_t>(dice.between(1, 12));
  spec.shuffle_window = random_shuffle_window(dice, record_count(spec));
  spec.last = static_cast<LastBatch>(dice.between(0, 2));
  if (dice.chance(15)) {
    const std::uint64_t records = record_count(spec);
    spec.shuffle_window = 0;
    spec.order = random_order(dice, records, dice.between(1, records), false);
  }
  return spec;
}

void add_echo(Dice& dice, PlanSpec& spec) {
  spec.factor = random_factor(dice);
  spec.factor_max = dice.chance(50) ? spec.factor : std::max(spec.factor, random_factor(dice));
  spec.echo_window = dice.between(spec.lanes, epoch_records(spec) + spec.lanes);
}

// A factor that divides the lane's rows of a batch.
void put_uses_within_a_step(Dice& dice, PlanSpec& spec) {
  const std::uint32_t rows = spec.batch_rows / spec.lanes;
  std::uint32_t uses = 0;
  while (uses == 0 || rows % uses != 0) uses = static_cast<std::uint32_t>(dice.between(1, rows));
  spec.within_step = true;
  spec.factor = spec.factor_max = uses * 1000;
  spec.echo_window = 0;
}

}  // namespace

int scaled(int count) {
  const char* text = std::getenv("ECHOLINE_TEST_SCALE");
  const double scale = text == nullptr ? 1.0 : std::atof(text);
  return std::max(1, static_cast<int>(count * scale / (ECHOLINE_TEST_SANITIZED ? 5 : 1)));
}

std::uint64_t record_count(const PlanSpec& spec) {
  return std::accumulate(spec.shard_records.begin(), spec.shard_records.end(), std::uint64_t{0});
}

std::uint64_t epoch_records(const PlanSpec& spec) {
  return spec.order == nullptr ? record_count(spec) : spec.order->length();
}

std::shared_ptr<const OrderLists> random_order(Dice& dice, std::uint64_t records,
                                               std::uint64_t length, bool repeats) {
  const std::uint64_t lists = dice.between(1, 3);
  OrderListsBuilder builder(records, lists * length);
  std::vector<std::uint64_t> all(records);
  std::iota(all.begin(), all.end(), 0);
  for (std::uint64_t list = 0; list < lists; ++list) {
    for (std::uint64_t place = 0; place < length; ++place) {
      // A step of a random permutation; or any record, that may have been there before.
      const std::uint64_t from = repeats ? 0 : place;
      std::uint64_t& chosen = all[dice.between(from, records - 1)];
      if (!repeats) std::swap(all[place], chosen);
      EXPECT_TRUE(builder.add(repeats ? chosen : all[place]).ok());
    }
    EXPECT_TRUE(builder.end_list().ok());
  }
  return builder.finish();
}

PlanSpec random_spec(Dice& dice, std::uint64_t records_max) {
  PlanSpec spec;
  do {
    spec = random_stream(dice, records_max);
    spec.echo_point = static_cast<EchoPoint>(dice.between(0, 4));
    if (spec.echo_point != EchoPoint::kNone) add_echo(dice, spec);
    if (spec.echo_point != EchoPoint::kNone && spec.echo_point != EchoPoint::kBatch &&
        dice.chance(20)) {
      put_uses_within_a_step(dice, spec);
    }
    spec.allow_repeats = true;
  } while (!Plan::create(spec).ok());
  return spec;
}

PlanSpec random_spec_within_steps(Dice& dice, std::uint64_t records_max) {
  for (;;) {
    PlanSpec spec = random_stream(dice, records_max);
    spec.echo_point = static_cast<EchoPoint>(dice.between(1, 3));
    put_uses_within_a_step(dice, spec);
    if (Plan::create(spec).ok()) return spec;
  }
}

PlanSpec random_accepted_spec(Dice& dice, std::uint64_t records_max) {
  for (;;) {
    PlanSpec spec = random_stream(dice, records_max);
    spec.echo_point = EchoPoint::kSample;
    add_echo(dice, spec);
    // Half of them with the smallest window that is accepted.
    const std::uint64_t least = smallest_window(echo_demand(spec, epoch_records(spec)));
    if (least > 0 && dice.chance(50)) spec.echo_window = least;
    if (Plan::create(spec).ok()) return spec;
  }
}

std::vector<FactorChange> random_changes(Dice& dice, const Plan& plan) {
  std::vector<FactorChange> changes;
  if (plan.block_count() == 0) return changes;
  const ChangeLimits limits{.blocks = plan.block_count(), .factor_max = plan.spec().factor_max};
  std::uint64_t block = dice.chance(50) ? 0 : 1;
  while (changes.size() < kChangesMax && (block == 0 || block < limits.end())) {
    const auto factor = static_cast<std::uint32_t>(dice.between(1000, limits.factor_max));
    changes.push_back({block, factor});
    block += dice.between(1, std::max<std::uint64_t>(1, limits.blocks / 4));
  }
  return changes;
}

std::string describe(const PlanSpec& spec) {
  std::ostringstream text;
  text << "seed " << spec.seed << " lanes " << spec.lanes << " batch " << spec.batch_rows
       << " shuffle " << spec.shuffle_window << " point " << static_cast<int>(spec.echo_point)
       << " factor " << spec.factor << " max " << spec.factor_max << " window " << spec.echo_window
       << (spec.within_step ? " within a step" : "") << " last " << static_cast<int>(spec.last)
       << " records " << record_count(spec) << " shards";
  for (const std::uint64_t count : spec.shard_records) text << ' ' << count;
  if (spec.order) text << " lists " << spec.order->list_count() << " of " << spec.order->length();
  return text.str();
}

std::vector<RowUse> read_all(const EpochPlan& epoch) {
  std::vector<RowUse> rows(epoch.rows());
  epoch.read(0, rows);
  return rows;
}

}  // namespace echoline::plan::testing
