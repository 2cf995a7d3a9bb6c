// Epochs in an order that a user gives as lists of records.
#include "plan/order_lists.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "plan/lanes.h"
#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

// A random stream with lists that have some records several times.
PlanSpec random_listed_spec(Dice& dice) {
  while (true) {
    PlanSpec spec = random_spec(dice, 60);
    spec.shuffle_window = 0;
    spec.order = random_order(dice, record_count(spec), dice.between(1, 90), true);
    if (Plan::create(spec).ok()) return spec;
  }
}

TEST(OrderLists, WithoutEchoRowsAreTheEntriesOfTheListForAnyLanes) {
  Dice dice(71);
  for (int i = 0; i < scaled(2000); ++i) {
    PlanSpec spec = random_listed_spec(dice);
    spec.echo_point = EchoPoint::kNone;
    spec.factor = spec.factor_max = 1000;
    spec.last = LastBatch::kPartial;
    const auto plan = Plan::create(spec).value();
    ASSERT_EQ(plan->rows_per_epoch(), spec.order->length());
    const auto epoch = static_cast<std::uint32_t>(dice.between(0, 7));
    const auto rows = read_all(*plan->epoch(epoch, {}));
    ASSERT_EQ(rows.size(), spec.order->length());
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      const ListEntry entry = spec.order->at(epoch, row);
      ASSERT_EQ(rows[row].record, entry.record) << describe(spec) << " row " << row;
      ASSERT_EQ(rows[row].first_draw, entry.repeat);
      ASSERT_EQ(plan->record_at(epoch, row), entry.record);
    }
  }
}

// The draws of one record in one epoch: if two uses had the same number, they would get the same
// augmentations.
TEST(OrderLists, WithEchoEachEntryHasUsesAndDrawsOfItsOwn) {
  Dice dice(72);
  for (int i = 0; i < scaled(2000); ++i) {
    const PlanSpec spec = random_listed_spec(dice);
    if (spec.echo_point == EchoPoint::kNone || spec.echo_point == EchoPoint::kBatch) continue;
    const auto plan = Plan::create(spec).value();
    const auto changes = random_changes(dice, *plan);
    std::set<std::pair<std::uint64_t, std::uint32_t>> draws;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> entries;
    for (const RowUse& row : read_all(*plan->epoch(1, changes))) {
      ASSERT_TRUE(draws.insert({row.record, row.first_draw + row.use}).second) << describe(spec);
      ASSERT_EQ(row.use, (entries[{row.record, row.first_draw}]++)) << "uses come in order";
    }
    ASSERT_EQ(entries.size(), spec.order->length()) << describe(spec);
  }
}

TEST(OrderLists, CountTheEntriesOfARecordInEachListByItself) {
  OrderListsBuilder builder(10, 8);
  for (const std::uint64_t record : {4U, 4U, 9U, 4U}) ASSERT_TRUE(builder.add(record).ok());
  ASSERT_TRUE(builder.end_list().ok());
  for (const std::uint64_t record : {4U, 0U, 9U, 9U}) ASSERT_TRUE(builder.add(record).ok());
  ASSERT_TRUE(builder.end_list().ok());
  const auto lists = builder.finish();
  std::vector<std::uint32_t> repeats;
  for (const std::uint32_t epoch : {0U, 1U, 2U}) {
    for (std::uint64_t place = 0; place < 4; ++place) {
      repeats.push_back(lists->at(epoch, place).repeat);
    }
  }
  EXPECT_EQ(repeats, (std::vector<std::uint32_t>{0, 1, 0, 2, 0, 0, 0, 1, 0, 1, 0, 2}));
  EXPECT_EQ(lists->repeat_max(), 2U);
}

TEST(OrderLists, HoldRecordsOfDataSetsWithMoreThan32BitsOfThem) {
  const std::uint64_t records = std::uint64_t{1} << 40;
  OrderListsBuilder builder(records, 3);
  for (const std::uint64_t record : {records - 1, std::uint64_t{1} << 32, std::uint64_t{7}}) {
    ASSERT_TRUE(builder.add(record).ok());
  }
  ASSERT_TRUE(builder.end_list().ok());
  const auto lists = builder.finish();
  EXPECT_EQ(lists->at(5, 0).record, records - 1);
  EXPECT_EQ(lists->at(5, 1).record, std::uint64_t{1} << 32);
  EXPECT_EQ(lists->at(5, 2).record, 7U);
  EXPECT_LE(lists->bytes(), OrderLists::bytes_for(3, records));
}

TEST(OrderLists, RefuseWhatCannotBeAnOrder) {
  OrderListsBuilder builder(10, 8);
  EXPECT_EQ(builder.end_list().message(), "no record in it");
  EXPECT_EQ(builder.add(10).message(), "there is no record 10; the data set has records 0 to 9");
  ASSERT_TRUE(builder.add(3).ok() && builder.add(2).ok() && builder.end_list().ok());
  ASSERT_TRUE(builder.add(3).ok());
  EXPECT_EQ(builder.end_list().message(),
            "1 records, and the first list has 2; all epochs have the same length");
}

TEST(OrderLists, RefuseMoreRepeatsThanThereAreNumbersOfDraws) {
  OrderListsBuilder builder(2, 65536);
  for (int i = 0; i < 65536; ++i) ASSERT_TRUE(builder.add(1).ok());
  EXPECT_NE(builder.add(1).message().find("more than 65536 times"), std::string::npos);
  ASSERT_TRUE(builder.end_list().ok());
  PlanSpec spec;
  spec.shard_records = {2};
  spec.order = builder.finish();
  EXPECT_TRUE(Plan::create(spec).ok());
  spec.echo_point = EchoPoint::kSample;
  spec.factor = 2500;
  spec.echo_window = 100;
  spec.allow_repeats = true;
  EXPECT_EQ(Plan::create(spec).status().message(),
            "shuffle.order: a record is 65536 times in one epoch; with echo.max 2.5 at most 21845 "
            "times are possible");
}

TEST(LaneGrid, FindsTheRowOfEachLanesRow) {
  Dice dice(73);
  for (int i = 0; i < scaled(2000); ++i) {
    std::vector<std::uint64_t> lane_rows(dice.between(1, 6));
    const std::uint64_t least = dice.between(0, 20);
    for (std::uint64_t& rows : lane_rows) rows = least + dice.between(0, 9);
    const LaneGrid grid(static_cast<std::uint32_t>(dice.between(1, 5)), lane_rows);
    for (std::uint64_t row = 0; row < grid.rows(); ++row) {
      ASSERT_EQ(grid.row_of(grid.locate(row)), row);
    }
  }
}

}  // namespace
}  // namespace echoline::plan
