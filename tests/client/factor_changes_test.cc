#include "loader/factor_changes.h"

#include <gtest/gtest.h>

#include "echoline/shm/cursor_steps.h"

namespace echoline::client {
namespace {

using Entries = std::vector<shm::FactorEntry>;

shm::FactorLogEntry entry(std::uint32_t epoch, std::uint64_t block, std::uint32_t factor,
                          std::uint64_t since_row) {
  shm::FactorLogEntry made{};
  made.epoch = epoch;
  made.block = block;
  made.factor = factor;
  made.since_epoch = epoch;
  made.since_row = since_row;
  made.rows = 100 + factor;
  made.rows_after = factor;
  return made;
}

void expect_list(const Entries& list, const Entries& expected) {
  ASSERT_EQ(list.size(), expected.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i].block, expected[i].block) << i;
    EXPECT_EQ(list[i].factor, expected[i].factor) << i;
    EXPECT_EQ(list[i].ahead, expected[i].ahead) << i;
  }
}

class Changes : public testing::Test {
 protected:
  Changes() { changes_.follow(&log_, 1500, 1500); }

  shm::FactorLog log_{};
  FactorChanges changes_;
};

TEST_F(Changes, AStateHasTheChangesThatItsRowsWerePlannedWith) {
  shm::write_change(log_, entry(2, 7, 2000, 641));
  ASSERT_TRUE(changes_.update(2));
  expect_list(changes_.of_state({2, 640}), {});
  expect_list(changes_.of_state({2, 641}), {{7, 2000, 0}});
  expect_list(changes_.of_state({3, 0}), {{0, 2000, 0}});
  expect_list(changes_.all_from(2), {{7, 2000, 0}});
  expect_list(changes_.all_from(1), {{7, 2000, 1}});
  EXPECT_EQ(changes_.rows(1), 1500U);
  EXPECT_EQ(changes_.rows(2), 2100U);
  EXPECT_EQ(changes_.rows(3), 2000U);
}

TEST_F(Changes, TheLastChangeOfABlockCountsAndThePlansFactorIsNotAChange) {
  shm::write_change(log_, entry(0, 3, 2000, 9));
  shm::write_change(log_, entry(0, 3, 1250, 9));
  shm::write_change(log_, entry(1, 0, 1500, 1));
  ASSERT_TRUE(changes_.update(0));
  expect_list(changes_.of_state({0, 9}), {{3, 1250, 0}});
  expect_list(changes_.of_state({1, 0}), {{0, 1250, 0}});
  expect_list(changes_.of_state({1, 1}), {});
  expect_list(changes_.all_from(0), {{3, 1250, 0}, {0, 1500, 1}});
}

TEST_F(Changes, ReadsHundredsOfChangesOverManyEpochs) {
  for (std::uint32_t epoch = 0; epoch < 50; ++epoch) {
    for (std::uint64_t block = 1; block < 10; ++block) {
      shm::write_change(log_, entry(epoch, block, 1600 + epoch, block));
    }
    ASSERT_TRUE(changes_.update(epoch));
    EXPECT_EQ(changes_.of_state({epoch, 1000}).size(), epoch == 0 ? 9U : 10U);
  }
  FactorChanges late;
  late.follow(&log_, 1500, 1500);
  ASSERT_TRUE(late.update(48));
  expect_list(late.of_state({48, 0}), {{0, 1647, 0}});
  EXPECT_EQ(late.all_from(48).size(), 19U);
}

TEST_F(Changes, BorderEpochsCoverTheChangesOfLength) {
  shm::write_change(log_, entry(4, 3, 2000, 10));
  ASSERT_TRUE(changes_.update(0));
  EXPECT_EQ(changes_.border_epochs(1), (std::vector<std::uint32_t>{1, 3, 4, 5}));
  EXPECT_EQ(changes_.border_epochs(4), (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(changes_.border_epochs(9), (std::vector<std::uint32_t>{9}));
}

TEST_F(Changes, AnInvalidLogIsRefused) {
  shm::write_change(log_, entry(5, 1, 2000, 1));
  shm::write_change(log_, entry(4, 1, 2000, 1));
  EXPECT_FALSE(changes_.update(0)) << "epochs never go back";
  shm::FactorLog weak{};
  shm::write_change(weak, entry(5, 1, 999, 1));
  changes_.follow(&weak, 1500, 1500);
  EXPECT_FALSE(changes_.update(0));
  shm::FactorLog wild{};
  wild.count = ~std::uint64_t{0};
  changes_.follow(&wild, 1500, 1500);
  EXPECT_FALSE(changes_.update(0));
}

TEST_F(Changes, ARingWithoutALogHasNoChanges) {
  changes_.follow(nullptr, 1500, 1500);
  EXPECT_TRUE(changes_.update(0));
  EXPECT_FALSE(changes_.any());
}

}  // namespace
}  // namespace echoline::client
