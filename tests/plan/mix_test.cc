// Epochs of several sources with weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "plan/mix_rows.h"
#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

// A random stream whose shards are divided into sources with at least a record each.
PlanSpec random_mix_spec(Dice& dice) {
  while (true) {
    PlanSpec spec = random_spec(dice, 60);
    spec.order = nullptr;
    MixSpec mix;
    std::uint64_t records = 0;
    for (const std::uint64_t shard : spec.shard_records) {
      if (mix.shards.empty() || (records > 0 && dice.chance(40))) {
        mix.shards.push_back(0);
        mix.weights.push_back(static_cast<std::uint32_t>(dice.between(1, 4000)));
        records = 0;
      }
      ++mix.shards.back();
      records += shard;
    }
    if (records == 0) continue;
    mix.at_end = static_cast<MixEnd>(dice.between(0, 2));
    if (mix.at_end == MixEnd::kRepeat) mix.rows = dice.between(1, 200);
    spec.mix = std::move(mix);
    if (Plan::create(spec).ok()) return spec;
  }
}

std::size_t source_of(const std::vector<std::uint64_t>& sizes, std::uint64_t record) {
  std::size_t source = 0;
  for (; record >= sizes[source]; ++source) record -= sizes[source];
  return source;
}

// Of the first rows, those of each source.
std::vector<std::uint64_t> count(const MixRows& rows, std::size_t sources, std::uint64_t end) {
  std::vector<std::uint64_t> counts(sources);
  for (std::uint64_t row = 0; row < end; ++row) {
    const auto [source, index] = rows.at(row);
    EXPECT_EQ(index, counts[source]) << "records of a source are taken one after the other";
    ++counts[source];
  }
  return counts;
}

TEST(Mix, SharesAreRightToWithinTheNumberOfSourcesAfterAnyRows) {
  const std::vector<std::uint32_t> weights{700, 200, 5, 95};
  const std::vector<std::uint64_t> sizes(4, 10'000'000);
  const MixRows rows({.shards = {}, .weights = weights, .at_end = MixEnd::kRepeat, .rows = 5000},
                     sizes);
  std::vector<std::uint64_t> counts(4);
  for (std::uint64_t row = 0; row < rows.rows(); ++row) {
    ++counts[rows.at(row).source];
    for (std::size_t source = 0; source < 4; ++source) {
      const double share = static_cast<double>((row + 1) * weights[source]) / 1000;
      ASSERT_LT(std::abs(static_cast<double>(counts[source]) - share), 4) << row;
    }
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{3500, 1000, 25, 475}));
}

// By hand: B has its third row at row 8, and no third record.
TEST(Mix, AnEpochEndsAsTheConfigurationSays) {
  const std::vector<std::uint32_t> weights{3000, 1000};
  const std::vector<std::uint64_t> sizes{100, 2};
  const auto length = [&](MixEnd end, std::uint64_t rows) {
    return MixRows({.shards = {}, .weights = weights, .at_end = end, .rows = rows}, sizes);
  };
  const MixRows stop = length(MixEnd::kStop, 0);
  EXPECT_EQ(stop.rows(), 8U);
  EXPECT_EQ(stop.taken(), (std::vector<std::uint64_t>{6, 2}));
  EXPECT_EQ(count(stop, 2, stop.rows()), stop.taken());
  const MixRows drop = length(MixEnd::kDrop, 0);
  EXPECT_EQ(drop.rows(), 102U);
  EXPECT_EQ(drop.taken(), sizes);
  EXPECT_EQ(count(drop, 2, stop.rows()), stop.taken()) << "the same until the first end";
  const MixRows repeat = length(MixEnd::kRepeat, 1000);
  EXPECT_EQ(repeat.taken(), (std::vector<std::uint64_t>{750, 250}));
}

TEST(Mix, EachRepetitionOfASourceHasEachRecordOnce) {
  Dice dice(81);
  for (int i = 0; i < scaled(1500); ++i) {
    PlanSpec spec = random_mix_spec(dice);
    spec.echo_point = EchoPoint::kNone;
    spec.factor = spec.factor_max = 1000;
    spec.last = LastBatch::kPartial;
    const auto plan = Plan::create(spec).value();
    const std::vector<std::uint64_t> sizes = source_sizes(spec);
    const MixRows mix(*spec.mix, sizes);
    const auto epoch = plan->epoch(static_cast<std::uint32_t>(dice.between(0, 3)), {});
    const auto rows = read_all(*epoch);
    ASSERT_EQ(rows.size(), mix.rows()) << describe(spec);
    std::vector<std::map<std::uint32_t, std::set<std::uint64_t>>> seen(sizes.size());
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      const auto [source, index] = mix.at(row);
      ASSERT_EQ(source_of(sizes, rows[row].record), source) << describe(spec) << " row " << row;
      ASSERT_EQ(rows[row].first_draw, index / sizes[source]);
      ASSERT_TRUE(seen[source][rows[row].first_draw].insert(rows[row].record).second);
      ASSERT_EQ(epoch->at(row).record, rows[row].record) << "any row alone";
    }
    for (std::size_t source = 0; source < sizes.size(); ++source) {
      const std::uint64_t taken = mix.taken()[source];
      std::uint64_t whole = 0;
      for (const auto& [repetition, records] : seen[source]) whole += records.size();
      ASSERT_EQ(whole, taken);
      const MixEnd end = spec.mix->at_end;
      ASSERT_TRUE(end == MixEnd::kRepeat || taken <= sizes[source]);
      ASSERT_TRUE(end != MixEnd::kDrop || taken == sizes[source]);
    }
  }
}

// If two uses of a record had the same number of draws, they would get the same augmentations.
TEST(Mix, WithEchoEachRepetitionHasUsesAndDrawsOfItsOwn) {
  Dice dice(82);
  for (int i = 0; i < scaled(1500); ++i) {
    const PlanSpec spec = random_mix_spec(dice);
    if (spec.echo_point == EchoPoint::kNone || spec.echo_point == EchoPoint::kBatch) continue;
    const auto plan = Plan::create(spec).value();
    const auto changes = random_changes(dice, *plan);
    std::set<std::pair<std::uint64_t, std::uint32_t>> draws;
    std::set<std::pair<std::uint64_t, std::uint32_t>> items;
    for (const RowUse& row : read_all(*plan->epoch(1, changes))) {
      ASSERT_TRUE(draws.insert({row.record, row.first_draw + row.use}).second) << describe(spec);
      items.insert({row.record, row.first_draw});
    }
    ASSERT_EQ(items.size(), plan->record_count()) << describe(spec);
  }
}

TEST(Mix, RepetitionsAndEpochsAndSourcesHaveOrdersOfTheirOwn) {
  PlanSpec spec;
  spec.shuffle_window = kWindowAll;
  spec.shard_records = {50, 50};
  spec.mix = MixSpec{.shards = {1, 1}, .weights = {1, 1}, .at_end = MixEnd::kRepeat, .rows = 200};
  const auto plan = Plan::create(spec).value();
  std::set<std::vector<std::uint64_t>> orders;
  for (const std::uint32_t epoch : {0U, 1U}) {
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<std::uint64_t>> order;
    for (const RowUse& row : read_all(*plan->epoch(epoch, {}))) {
      order[{row.record / 50, row.first_draw}].push_back(row.record % 50);
    }
    for (auto& [key, records] : order) orders.insert(std::move(records));
  }
  EXPECT_EQ(orders.size(), 8U);
}

TEST(Mix, ASubstituteComesFromTheSameSource) {
  PlanSpec spec;
  spec.shard_records = {3, 5, 7};
  spec.mix = MixSpec{.shards = {2, 1}, .weights = {1, 1}};
  const auto plan = Plan::create(spec).value();
  for (std::uint64_t draw = 0; draw < 50; ++draw) {
    EXPECT_LT(plan->substitute(0, 7, draw), 8U);
    EXPECT_GE(plan->substitute(0, 8, draw), 8U);
    EXPECT_LT(plan->substitute(0, 8, draw), 15U);
  }
}

TEST(Mix, ASourceThatComesTooOftenIsRefused) {
  PlanSpec spec;
  spec.shard_records = {1, 100'000};
  spec.mix =
      MixSpec{.shards = {1, 1}, .weights = {1, 1}, .at_end = MixEnd::kRepeat, .rows = 1'000'000};
  const Status status = Plan::create(spec).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("mix.records: a source comes 500000 times"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace echoline::plan
