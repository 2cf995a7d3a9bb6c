// The shuffle step moves records as far as its window allows, evenly, and differently in each
// epoch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "random_spec.h"
#include "statistics.h"

namespace echoline::plan {
namespace {

using namespace testing;

PlanSpec stream(std::vector<std::uint64_t> shards, std::uint64_t window) {
  PlanSpec spec;
  spec.seed = 3;
  spec.batch_rows = 10;
  spec.shuffle_window = window;
  spec.last = LastBatch::kPartial;
  spec.shard_records = std::move(shards);
  return spec;
}

std::vector<std::uint64_t> order(const PlanSpec& spec, std::uint32_t epoch) {
  std::vector<std::uint64_t> records;
  for (const RowUse& row : read_all(*Plan::create(spec).value()->epoch(epoch, {}))) {
    records.push_back(row.record);
  }
  return records;
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

TEST(Shuffle, IsTheOrderOfTheIndexWithoutAWindow) {
  const auto records = order(stream({7, 0, 20, 5}, 0), 4);
  for (std::uint64_t i = 0; i < records.size(); ++i) EXPECT_EQ(records[i], i);
}

TEST(Shuffle, WithAWindowOfOnePermutesOnlyWholeShards) {
  const PlanSpec spec = stream({3, 5, 1, 4, 2, 6}, 1);
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint32_t epoch = 0; epoch < 50; ++epoch) {
    const auto records = order(spec, epoch);
    orders.insert(records);
    std::uint64_t breaks = 0;
    for (std::size_t i = 1; i < records.size(); ++i) breaks += records[i] != records[i - 1] + 1;
    EXPECT_LE(breaks, 5U);
  }
  EXPECT_GT(orders.size(), 40U);
}

TEST(Shuffle, MovesARecordLessThanTheWindowAndAThirdOfItInTheMean) {
  const std::uint64_t window = 500;
  const auto records = order(stream({20000}, window), 1);
  double sum = 0;
  for (std::uint64_t row = 0; row < records.size(); ++row) {
    ASSERT_LT(distance(records[row], row), window);
    sum += static_cast<double>(distance(records[row], row));
  }
  // The mean distance of two random positions in a window is a third of the window.
  EXPECT_NEAR(sum / 20000, 500.0 / 3, 8);
}

TEST(Shuffle, PutsEachRecordAtEachPlaceOfAFullPermutationEquallyOften) {
  for (const std::uint64_t window : {kWindowAll, std::uint64_t{40}, std::uint64_t{1000}}) {
    std::vector<std::uint64_t> cells(40 * 40, 0);
    const auto plan = Plan::create(stream({40}, window)).value();
    for (std::uint32_t epoch = 0; epoch < 4000; ++epoch) {
      const auto rows = read_all(*plan->epoch(epoch, {}));
      for (std::uint64_t row = 0; row < 40; ++row) ++cells[row * 40 + rows[row].record];
    }
    EXPECT_LT(std::abs(chi_square_deviation(cells)), 4.5) << window;
  }
}

TEST(Shuffle, WindowBordersDifferFromEpochToEpoch) {
  const std::uint64_t window = 100;
  std::vector<std::uint64_t> starts(window, 0);
  const auto plan = Plan::create(stream({1000}, window)).value();
  for (std::uint32_t epoch = 0; epoch < 2000; ++epoch) {
    // The first window ends at the first row r for which rows 0 to r hold the records 0 to r.
    std::uint64_t highest = 0;
    const auto rows = read_all(*plan->epoch(epoch, {}));
    for (std::uint64_t row = 0; row < window; ++row) {
      highest = std::max(highest, rows[row].record);
      if (highest == row) {
        ++starts[row];
        break;
      }
    }
  }
  EXPECT_GT(*std::min_element(starts.begin(), starts.end()), 0U);
}

TEST(Shuffle, HasNoCorrelationBetweenEpochsNorBetweenPlaceAndRecord) {
  const std::uint64_t count = 20000;
  const PlanSpec spec = stream({count}, kWindowAll);
  std::vector<std::vector<std::uint64_t>> epochs;
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch) epochs.push_back(order(spec, epoch));
  std::vector<std::uint64_t> index(count);
  for (std::uint64_t i = 0; i < count; ++i) index[i] = i;
  // Without correlation, the standard deviation is 1 / sqrt(count), here 0.007.
  for (std::size_t a = 0; a < epochs.size(); ++a) {
    EXPECT_LT(std::abs(correlation(epochs[a], index)), 0.03);
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_LT(std::abs(correlation(epochs[a], epochs[b])), 0.03);
    }
  }
}

TEST(Shuffle, WithinAWindowKeepsNoOrderFromEpochToEpoch) {
  const PlanSpec spec = stream({5000, 5000, 5000, 5000}, 2000);
  const auto first = order(spec, 0);
  const auto second = order(spec, 1);
  std::vector<std::uint64_t> place(first.size());
  for (std::uint64_t row = 0; row < second.size(); ++row) place[second[row]] = row;
  std::uint64_t kept = 0;
  for (std::size_t row = 0; row + 1 < first.size(); ++row) {
    kept += distance(place[first[row]], place[first[row + 1]]) < 10;
  }
  // Adjacent records of a window are within 10 rows of each other 18 times in 2000 by chance.
  EXPECT_LT(kept, 20000U * 18 / 2000 * 2);
}

TEST(Shuffle, DividesIntoLanesOfEqualSizeWithSeparateShards) {
  PlanSpec spec = stream({}, 300);
  for (int i = 0; i < 64; ++i) spec.shard_records.push_back(90 + i % 21);
  spec.lanes = 4;
  spec.batch_rows = 40;
  const auto records = order(spec, 2);
  std::vector<std::set<std::uint64_t>> lanes(4);
  for (std::size_t row = 0; row < records.size() / 40 * 40; ++row) {
    lanes[row % 40 / 10].insert(records[row]);
  }
  for (const auto& lane : lanes) EXPECT_NEAR(static_cast<double>(lane.size()), 1600, 20);
  // The records of a lane are in a quarter of the shards, plus one or two at its borders.
  for (const auto& lane : lanes) {
    std::set<std::uint64_t> shards;
    for (const std::uint64_t record : lane) {
      std::uint64_t shard = 0, end = spec.shard_records[0];
      while (record >= end) end += spec.shard_records[++shard];
      shards.insert(shard);
    }
    EXPECT_LE(shards.size(), 19U);
  }
}

TEST(Shuffle, GivesEachLaneOtherRecordsInEachEpoch) {
  PlanSpec spec = stream(std::vector<std::uint64_t>(100, 20), 50);
  spec.lanes = 2;
  std::uint64_t same = 0;
  const auto first = order(spec, 0), second = order(spec, 1);
  std::vector<bool> lane_of(2000);
  for (std::size_t row = 0; row < 2000; ++row) lane_of[first[row]] = row % 10 < 5;
  for (std::size_t row = 0; row < 2000; ++row) same += lane_of[second[row]] == (row % 10 < 5);
  EXPECT_NEAR(static_cast<double>(same), 1000, 250);
}

}  // namespace
}  // namespace echoline::plan
