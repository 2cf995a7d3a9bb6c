// batch.buckets: batches of records with similar lengths.
#include "plan/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

// A stream of batches from random buckets, and the lengths of its records.
struct Case {
  PlanSpec spec;
  std::vector<std::uint64_t> lengths;

  const Buckets& buckets() const { return *spec.buckets; }
  std::uint32_t uses() const { return spec.within_step ? spec.factor / 1000 : 1; }
};

void add_echo(Dice& dice, PlanSpec& spec) {
  if (dice.chance(40)) {
    spec.echo_point = EchoPoint::kBatch;
    spec.factor = spec.factor_max = static_cast<std::uint32_t>(dice.between(1000, 3500));
    spec.echo_window = dice.between(1, 9);
  } else if (dice.chance(40)) {
    spec.echo_point = EchoPoint::kSample;
    spec.within_step = true;
    spec.factor = spec.factor_max = static_cast<std::uint32_t>(dice.between(1, 3)) * 1000;
  }
}

Case random_case(Dice& dice) {
  for (;;) {
    Case made;
    PlanSpec& spec = made.spec;
    spec.seed = dice.between(0, ~std::uint64_t{0} - 1);
    spec.shuffle_window = dice.chance(80) ? kWindowAll : 0;
    spec.last = static_cast<LastBatch>(dice.between(0, 2));
    add_echo(dice, spec);
    std::vector<BucketShape> shapes(dice.between(1, 5));
    std::uint64_t up_to = 0;
    for (BucketShape& shape : shapes) {
      shape.up_to = up_to += dice.between(1, 20);
      shape.rows = static_cast<std::uint32_t>(dice.between(1, 6)) * made.uses();
      spec.batch_rows = std::max(spec.batch_rows, shape.rows);
    }
    spec.lanes = dice.chance(20) && spec.batch_rows % 2 == 0 ? 2 : 1;
    for (std::uint64_t i = dice.between(1, 120); i > 0; --i) {
      made.lengths.push_back(dice.between(1, up_to + 3));
    }
    spec.shard_records = {made.lengths.size()};
    spec.buckets = std::make_shared<const Buckets>(
        shapes, made.lengths.size(), [&](std::uint64_t record) { return made.lengths[record]; });
    if (Plan::create(spec).ok()) return made;
  }
}

// Calls check(case, plan, an epoch of it) for random configurations.
template <typename Check>
void for_random_cases(std::uint64_t seed, int cases, const Check& check) {
  Dice dice(seed);
  for (int i = 0; i < scaled(cases) && !::testing::Test::HasFailure(); ++i) {
    const Case made = random_case(dice);
    SCOPED_TRACE(describe(made.spec));
    const auto plan = Plan::create(made.spec).value();
    check(made, *plan, *plan->epoch(static_cast<std::uint32_t>(dice.between(0, 3)), {}));
  }
}

TEST(Buckets, EachRecordIsUsedOnceOrAsOftenAsItsBatch) {
  for_random_cases(51, 2000, [](const Case& made, const Plan& plan, const EpochPlan& epoch) {
    ASSERT_EQ(epoch.rows(), plan.rows_per_epoch());
    std::map<std::uint64_t, std::uint32_t> seen;
    for (const RowUse& row : read_all(epoch)) {
      if (!row.valid) continue;
      ASSERT_EQ(row.use, seen[row.record]++) << "record " << row.record;
    }
    const std::uint32_t last_rows = made.buckets().shape(made.buckets().count() - 1).rows;
    const std::uint64_t missing = made.lengths.size() - seen.size();
    // All are there, except those of one short batch at most.
    ASSERT_LT(missing, made.spec.last == LastBatch::kDrop ? last_rows / made.uses() : 1);
    if (made.spec.echo_point == EchoPoint::kBatch) return;
    for (const auto& [record, uses] : seen) ASSERT_EQ(uses, made.uses()) << "record " << record;
  });
}

TEST(Buckets, ABatchHasTheRowsAndLengthsOfItsBucket) {
  for_random_cases(52, 2000, [](const Case& made, const Plan&, const EpochPlan& epoch) {
    const std::vector<RowUse> rows = read_all(epoch);
    const std::uint64_t steps = rows.size() / made.spec.batch_rows;
    const Buckets& buckets = made.buckets();
    std::uint64_t shorter = 0, shorter_most = 0;
    for (std::size_t i = 0; i + 1 < buckets.count(); ++i) {
      shorter_most += (buckets.count() - 1) * (buckets.shape(i).rows / made.uses() - 1);
    }
    for (std::uint64_t step = 0; step < steps; ++step) {
      const BatchForm form = epoch.form(step);
      const std::size_t bucket = buckets.bucket_of_length(form.length);
      ASSERT_EQ(form.length, buckets.shape(bucket).up_to);
      ASSERT_EQ(form.rows, buckets.shape(bucket).rows);
      const std::uint32_t valid = epoch.valid_rows(step);
      const bool batch_echo = made.spec.echo_point == EchoPoint::kBatch;
      const bool may_be_short = batch_echo || step + 1 == steps;
      if (!may_be_short || made.spec.last == LastBatch::kDrop) {
        ASSERT_EQ(valid, form.rows);
      }
      for (std::uint32_t row = 0; row < made.spec.batch_rows; ++row) {
        const RowUse& use = rows[step * made.spec.batch_rows + row];
        ASSERT_EQ(use.valid, row < valid) << "step " << step << " row " << row;
        if (!use.valid) continue;
        const std::size_t own = buckets.bucket_of_length(made.lengths[use.record]);
        ASSERT_LE(own, bucket);
        if (use.fresh()) shorter += bucket - own;
      }
    }
    // Only what did not fill a batch has gone on to a later bucket.
    ASSERT_LE(shorter, shorter_most);
  });
}

TEST(Buckets, AnyRowIsFoundWithoutThoseBefore) {
  Dice dice(53);
  for_random_cases(54, 1000, [&](const Case&, const Plan&, const EpochPlan& epoch) {
    const std::vector<RowUse> rows = read_all(epoch);
    const std::uint64_t from = dice.between(0, rows.size() - 1);
    std::vector<RowUse> part(dice.between(1, rows.size() - from));
    epoch.read(from, part);
    for (std::uint64_t i = 0; i < part.size(); ++i) {
      const RowUse alone = epoch.at(from + i);
      for (const RowUse& use : {part[i], alone}) {
        ASSERT_EQ(use.valid, rows[from + i].valid);
        ASSERT_EQ(use.record, rows[from + i].record);
        ASSERT_EQ(use.use, rows[from + i].use);
      }
    }
  });
}

TEST(Buckets, EpochsAndBucketsAreMixedOnlyByAShuffle) {
  const std::vector<std::uint64_t> lengths = [] {
    std::vector<std::uint64_t> made(1000);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = 1 + i * 7 % 100;
    return made;
  }();
  PlanSpec spec;
  spec.batch_rows = 8;
  spec.shard_records = {lengths.size()};
  spec.buckets = std::make_shared<const Buckets>(
      std::vector<BucketShape>{{20, 8}, {50, 4}, {100, 2}}, lengths.size(),
      [&](std::uint64_t record) { return lengths[record]; });
  const auto lengths_of = [&](std::uint32_t number) {
    const auto epoch = Plan::create(spec).value()->epoch(number, {});
    std::vector<std::uint64_t> of;
    for (std::uint64_t step = 0; step * 8 < epoch->rows(); ++step) {
      of.push_back(epoch->form(step).length);
    }
    return of;
  };
  const std::vector<std::uint64_t> plain = lengths_of(0);
  EXPECT_TRUE(std::is_sorted(plain.begin(), plain.end()));
  EXPECT_EQ(plain, lengths_of(1));
  // 200, 300 and 500 records: all batches are whole.
  EXPECT_EQ(plain.size(), 25 + 75 + 250U);
  spec.shuffle_window = kWindowAll;
  std::vector<std::uint64_t> mixed = lengths_of(0);
  EXPECT_NE(mixed, lengths_of(1));
  // One batch in 14 has the shortest records: some of them are in each third of an epoch.
  for (std::size_t third = 0; third < 3; ++third) {
    const auto begin = mixed.begin() + static_cast<std::ptrdiff_t>(third * 116);
    EXPECT_GT(std::count(begin, begin + 116, 20U), 1);
  }
  std::sort(mixed.begin(), mixed.end());
  EXPECT_EQ(mixed, plain);
}

TEST(Buckets, ABadRecordIsReplacedByOneThatIsNoLongerThanItsBatch) {
  for_random_cases(55, 300, [](const Case& made, const Plan& plan, const EpochPlan& epoch) {
    const Buckets& buckets = made.buckets();
    const std::vector<RowUse> rows = read_all(epoch);
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      if (!rows[row].valid) continue;
      const std::uint64_t other = plan.substitute(1, rows[row].record, row * 0x9E3779B97F4A7C15);
      ASSERT_LE(buckets.bucket_of_length(made.lengths[other]),
                buckets.bucket_of_length(epoch.form(row / made.spec.batch_rows).length));
    }
  });
}

// The shortest records do not fill a batch, so they are in batches with longer ones.
TEST(Buckets, ABadRecordAloneInItsBucketIsReplacedByAnotherOne) {
  PlanSpec spec;
  spec.batch_rows = 4;
  spec.last = LastBatch::kPartial;
  spec.shard_records = {32};
  spec.buckets = std::make_shared<const Buckets>(
      std::vector<BucketShape>{{10, 4}, {60, 4}, {120, 4}}, 32, [](std::uint64_t record) {
        return record == 0 ? 4U : record < 11 ? 30U : 80U;
      });
  const auto plan = Plan::create(spec).value();
  std::set<std::uint64_t> others;
  for (std::uint64_t draw = 0; draw < 100; ++draw) others.insert(plan->substitute(0, 0, draw));
  EXPECT_EQ(others.size(), 11U);
  EXPECT_EQ(*others.rbegin(), 10U);
}

}  // namespace
}  // namespace echoline::plan
