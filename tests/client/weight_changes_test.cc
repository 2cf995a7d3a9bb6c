#include "loader/weight_changes.h"

#include <gtest/gtest.h>

#include "echoline/shm/cursor_steps.h"

namespace echoline::client {
namespace {

shm::WeightLogEntry entry(std::uint32_t epoch, std::uint64_t row, std::uint32_t first,
                          std::uint64_t since_row) {
  shm::WeightLogEntry made{};
  made.epoch = epoch;
  made.row = row;
  made.source_count = 2;
  made.weights[0] = first;
  made.weights[1] = 1000 - first;
  made.since_epoch = epoch;
  made.since_row = since_row;
  return made;
}

// Of each entry: epochs ahead, row, first weight.
using Entries = std::vector<std::array<std::uint64_t, 3>>;
Entries list_of(const std::vector<shm::WeightEntry>& changes) {
  Entries list;
  for (const auto& one : changes) list.push_back({one.ahead, one.row, one.weights[0]});
  return list;
}

class Weights : public testing::Test {
 protected:
  Weights() { weights_.follow(&log_); }

  shm::WeightLog log_{};
  WeightChanges weights_;
};

TEST_F(Weights, AStateHasTheChangesThatItsRowsWerePlannedWith) {
  shm::write_change(log_, entry(2, 700, 200, 641));
  shm::write_change(log_, entry(3, 5, 300, 9));
  ASSERT_TRUE(weights_.update(2));
  EXPECT_EQ(list_of(weights_.of_state({2, 640})), Entries());
  EXPECT_EQ(list_of(weights_.of_state({2, 641})), (Entries{{0, 700, 200}}));
  EXPECT_EQ(list_of(weights_.of_state({3, 8})), (Entries{{0, 0, 200}}));
  EXPECT_EQ(list_of(weights_.of_state({3, 9})), (Entries{{0, 0, 200}, {0, 5, 300}}));
  EXPECT_EQ(list_of(weights_.of_state({4, 0})), (Entries{{0, 0, 300}}));
  EXPECT_EQ(list_of(weights_.all_from(2)), (Entries{{0, 700, 200}, {1, 5, 300}}));
}

TEST_F(Weights, TheLastChangeOfARowCounts) {
  shm::write_change(log_, entry(0, 3, 200, 1));
  shm::write_change(log_, entry(0, 3, 300, 1));
  ASSERT_TRUE(weights_.update(0));
  EXPECT_EQ(list_of(weights_.of_state({0, 1})), (Entries{{0, 3, 300}}));
}

TEST_F(Weights, OnlyEntriesThatMatterAreKept) {
  for (std::uint32_t epoch = 0; epoch < 40; ++epoch) {
    shm::write_change(log_, entry(epoch, 1, 100 + epoch, 1));
  }
  ASSERT_TRUE(weights_.update(38));
  EXPECT_EQ(list_of(weights_.all_from(38)), (Entries{{0, 0, 137}, {0, 1, 138}, {1, 1, 139}}));
}

TEST_F(Weights, ALogThatCannotBeIsNoticed) {
  shm::WeightLogEntry many = entry(4, 1, 200, 1);
  many.source_count = shm::kMixSourcesMax + 1;
  shm::write_change(log_, many);
  EXPECT_FALSE(weights_.update(4));
  weights_.follow(nullptr);
  EXPECT_TRUE(weights_.update(4)) << "a ring without weights";
}

}  // namespace
}  // namespace echoline::client
