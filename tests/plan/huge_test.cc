// The largest allowed numbers: nothing overflows, and every row takes the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "plan/spec_check.h"
#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

PlanSpec huge(std::uint32_t factor, std::uint64_t window, std::uint32_t lanes) {
  PlanSpec spec;
  spec.seed = ~std::uint64_t{0};
  spec.lanes = lanes;
  spec.batch_rows = 4096;
  spec.shuffle_window = 1000000;
  spec.echo_point = EchoPoint::kSample;
  spec.factor = factor;
  spec.echo_window = window;
  spec.shard_records = {(std::uint64_t{1} << 40) / 2 + 1, 12345, (std::uint64_t{1} << 40) / 2};
  return spec;
}

// Compares random access with the sequential walk, at random rows and near the end.
void expect_sound(const PlanSpec& spec) {
  const auto created = Plan::create(spec);
  ASSERT_TRUE(created.ok()) << created.status().message();
  const auto& plan = created.value();
  const std::uint64_t records = record_count(spec);
  const auto epoch = plan->epoch(5, {});
  if (spec.echo_point == EchoPoint::kSample) {
    // The product can need more than 64 bits.
    __extension__ typedef unsigned __int128 Wide;
    ASSERT_EQ(epoch->rows(),
              static_cast<std::uint64_t>(static_cast<Wide>(records) * spec.factor / 1000));
  }
  std::vector<RowUse> rows(3000);
  for (int part = 0; part <= 10; ++part) {
    const std::uint64_t first = (epoch->rows() - rows.size()) / 10 * part;
    epoch->read(first, rows);
    for (std::size_t i = 0; i < rows.size(); i += 41) {
      const RowUse use = epoch->at(first + i);
      ASSERT_EQ(use.record, rows[i].record);
      ASSERT_EQ(use.use, rows[i].use);
      ASSERT_EQ(use.uses, rows[i].uses);
      ASSERT_LT(use.record, records);
      ASSERT_LT(use.use, use.uses);
      ASSERT_LE(use.uses, spec.factor / 1000 + 1);
    }
  }
  epoch->read(epoch->rows() - rows.size(), rows);
  EXPECT_TRUE(std::all_of(rows.begin(), rows.end(), [](const RowUse& use) {
    return use.use + 2 >= use.uses;
  })) << "an epoch ends with last uses";
}

TEST(Huge, AMillionMillionRecordsAtAThousandUses) { expect_sound(huge(1000000, 20000000, 1)); }
TEST(Huge, AllRecordsInOneWindow) { expect_sound(huge(999999, std::uint64_t{1} << 41, 1)); }
TEST(Huge, InLanes) { expect_sound(huge(2537, 1000000, 64)); }
TEST(Huge, InAFullPermutation) {
  PlanSpec spec = huge(3001, std::uint64_t{1} << 39, 2);
  spec.shuffle_window = kWindowAll;
  expect_sound(spec);
}
TEST(Huge, InBatches) {
  PlanSpec spec = huge(1000000, 5000, 4);
  spec.echo_point = EchoPoint::kBatch;
  expect_sound(spec);
}
TEST(Huge, AtTheLargestNumberOfRecords) {
  PlanSpec spec = huge(1000000, 20000000, 1);
  spec.shard_records = {kRecordsMax - 1, 1};
  expect_sound(spec);
}

TEST(Huge, ARowAtTheEndTakesNoLongerThanOneAtTheStart) {
  const auto epoch = Plan::create(huge(2500, 100000, 1)).value()->epoch(0, {});
  const auto time_of = [&](std::uint64_t first) {
    auto best = std::chrono::nanoseconds::max();
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto start = std::chrono::steady_clock::now();
      for (std::uint64_t i = 0; i < 200; ++i) (void)epoch->at(first + i);
      best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
    }
    return best;
  };
  EXPECT_LT(time_of(epoch->rows() - 100000), 10 * time_of(100000));
}

TEST(Huge, ConsecutiveRowsHaveDistinctRecords) {
  const auto epoch = Plan::create(huge(1000, 100000, 1)).value()->epoch(0, {});
  std::vector<RowUse> rows(100000);
  epoch->read(epoch->rows() / 2, rows);
  std::set<std::uint64_t> records;
  for (const RowUse& row : rows) records.insert(row.record);
  EXPECT_EQ(records.size(), rows.size());
}

}  // namespace
}  // namespace echoline::plan
