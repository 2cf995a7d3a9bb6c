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

// Valid changes at some rows; none where weights cannot change.
std::vector<WeightChange> random_weights(Dice& dice, const Plan& plan) {
  const MixSpec& mix = *plan.spec().mix;
  std::vector<WeightChange> changes;
  if (mix.at_end == MixEnd::kStop) return changes;
  for (std::uint64_t row = dice.between(0, 20); row < plan.record_count();
       row += dice.between(1, 40)) {
    if (changes.size() == 5) break;
    WeightChange& change = changes.emplace_back(WeightChange{.row = row, .weights = {}});
    const std::uint32_t least = mix.at_end == MixEnd::kDrop ? 1 : 0;
    for (std::size_t i = 0; i < mix.weights.size(); ++i) {
      change.weights.push_back(static_cast<std::uint32_t>(dice.between(least, 3000)));
    }
    change.weights.front() += 1;
  }
  return changes;
}

// The source of each row, as docs/semantics.md defines it, row by row.
std::vector<std::size_t> sources_one_by_one(const PlanSpec& spec, std::uint64_t rows,
                                            const std::vector<WeightChange>& changes) {
  const std::vector<std::uint64_t> sizes = source_sizes(spec);
  std::vector<std::uint64_t> taken(sizes.size());
  std::vector<std::uint32_t> weights = spec.mix->weights;
  const bool ends = spec.mix->at_end == MixEnd::kDrop;
  std::uint64_t begin = 0;
  const auto source_at = [&](std::uint64_t place) {
    std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    std::size_t source = 0;
    while ((place + 1) * weights[source] / all <= place * weights[source] / all) {
      place -= place * weights[source] / all;
      all -= weights[source++];
    }
    return source;
  };
  std::vector<std::size_t> sources;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (const WeightChange& change : changes) {
      if (change.row != row) continue;
      begin = row;
      weights = change.weights;
      for (std::size_t i = 0; ends && i < sizes.size(); ++i) {
        if (taken[i] == sizes[i]) weights[i] = 0;
      }
    }
    std::size_t source = source_at(row - begin);
    while (ends && taken[source] == sizes[source]) {
      weights[source] = 0;
      begin = row;
      source = source_at(0);
    }
    ++taken[source];
    sources.push_back(source);
  }
  return sources;
}

TEST(Mix, ChangedWeightsHoldFromTheirRowOn) {
  Dice dice(83);
  for (int i = 0; i < scaled(1500); ++i) {
    const PlanSpec spec = random_mix_spec(dice);
    const auto plan = Plan::create(spec).value();
    const auto changes = random_weights(dice, *plan);
    if (!plan->check_weights(changes).ok()) continue;  // a source would come too often
    const MixRows mix(*spec.mix, source_sizes(spec), changes);
    ASSERT_EQ(mix.rows(), plan->record_count()) << describe(spec);
    std::vector<std::size_t> sources;
    for (std::uint64_t row = 0; row < mix.rows(); ++row) sources.push_back(mix.at(row).source);
    ASSERT_EQ(sources, sources_one_by_one(spec, mix.rows(), changes)) << describe(spec);
    ASSERT_EQ(count(mix, spec.mix->shards.size(), mix.rows()), mix.taken());
  }
}

// Whatever was walked stays, with any echo, and no later row would do for all of it.
TEST(Mix, AChangeOfWeightsAtTheNextItemChangesNoEarlierRow) {
  Dice dice(84);
  int shown = 0;
  for (int i = 0; i < scaled(1500); ++i) {
    PlanSpec spec = random_mix_spec(dice);
    if (spec.mix->at_end == MixEnd::kStop || spec.mix->weights.size() < 2) continue;
    const auto plan = Plan::create(spec).value();
    const auto changes = random_changes(dice, *plan);
    const auto before = plan->epoch(1, changes);
    const std::vector<RowUse> all = read_all(*before);
    const std::uint64_t row = dice.between(0, all.size());
    WeightChange change{.row = before->next_item(row), .weights = spec.mix->weights};
    if (change.row >= plan->record_count()) continue;
    std::ranges::reverse(change.weights);
    change.weights.front() *= 9;
    if (!plan->check_weights({&change, 1}).ok()) continue;
    const auto after = plan->epoch(1, changes, {&change, 1});
    ASSERT_EQ(after->rows(), before->rows()) << describe(spec);
    const std::vector<RowUse> changed = read_all(*after);
    bool differs = false;
    for (std::uint64_t at = 0; at < all.size(); ++at) {
      const bool same =
          changed[at].record == all[at].record && changed[at].first_draw == all[at].first_draw;
      ASSERT_EQ(changed[at].use, all[at].use) << "the echo step knows no sources";
      ASSERT_TRUE(same || at >= row) << describe(spec) << " row " << at;
      differs |= !same;
    }
    shown += differs ? 1 : 0;
    if (spec.echo_point == EchoPoint::kNone) {
      ASSERT_EQ(change.row, row) << describe(spec);
    }
  }
  EXPECT_GT(shown, scaled(100));
}

TEST(Mix, ListsOfWeightsAreChecked) {
  PlanSpec spec;
  spec.shard_records = {3, 5};
  spec.mix = MixSpec{.shards = {1, 1}, .weights = {1, 1}, .at_end = MixEnd::kDrop};
  const auto message = [&](const std::vector<WeightChange>& changes) {
    const Status status = Plan::create(spec).value()->check_weights(changes);
    EXPECT_TRUE(status.ok() || status.code() == Code::kInvalidArgument);
    return status.message();
  };
  EXPECT_EQ(message({{0, {2, 1}}, {7, {1, 9}}}), "");
  EXPECT_EQ(message({{0, {2}}}), "weights: entry 0: 1 weights for 2 sources");
  EXPECT_EQ(message({{8, {2, 1}}}), "weights: entry 0: row 8 of an epoch of 8 rows");
  EXPECT_EQ(message({{4, {2, 1}}, {4, {1, 2}}}),
            "weights: entry 1: row 4 does not come after that of the entry before");
  EXPECT_EQ(message({{4, {1'000'000'001, 1}}}), "weights: entry 0: a weight is above 1000000");
  EXPECT_NE(message({{0, {0, 1}}}).find("entry 0: a weight is 0, and with 'at_end: drop'"),
            std::string::npos);
  EXPECT_EQ(message(std::vector<WeightChange>(17, {0, {1, 1}})),
            "weights: 17 changes in one epoch; at most 16");
  spec.mix->at_end = MixEnd::kRepeat;
  spec.mix->rows = 200'000;
  EXPECT_EQ(message({{0, {9, 1}}}), "");
  EXPECT_EQ(message({{1, {0, 0}}}),
            "weights: entry 0: all weights are 0; at least one source has to give records");
  EXPECT_NE(message({{1, {1, 0}}}).find("a source comes 66667 times in one epoch"),
            std::string::npos)
      << message({{1, {1, 0}}});
  spec.mix->at_end = MixEnd::kStop;
  EXPECT_NE(message({{0, {2, 1}}}).find("'at_end: stop'"), std::string::npos);
  spec.mix.reset();
  EXPECT_EQ(message({{0, {2, 1}}}), "weights: this stream has no step 'mix'");
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
    auto weights = random_weights(dice, *plan);
    if (!plan->check_weights(weights).ok()) weights.clear();
    const MixRows mix(*spec.mix, sizes, weights);
    const auto epoch = plan->epoch(static_cast<std::uint32_t>(dice.between(0, 3)), {}, weights);
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
