// Which rows of a batch a host prepares.
#include "engine/walk/lane_set.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

constexpr std::uint32_t kBatch = 8;
constexpr std::uint64_t kRows = 100;
constexpr std::uint64_t kWhole = 96;  // of them, those in whole batches

TEST(Lanes, OfARankAreThoseThatItsRowsTouch) {
  EXPECT_EQ(lanes_of_rank(4, 0, 2), (LaneSet{true, true, false, false}));
  EXPECT_EQ(lanes_of_rank(4, 1, 2), (LaneSet{false, false, true, true}));
  EXPECT_EQ(lanes_of_rank(2, 2, 4), (LaneSet{false, true}));
  EXPECT_EQ(lanes_of_rank(3, 0, 2), (LaneSet{true, true, false})) << "half of the second is its";
  EXPECT_EQ(lanes_of_rank(3, 1, 2), (LaneSet{false, true, true}));
  EXPECT_EQ(lanes_of_rank(4, 0, 1), LaneSet(4, true));
}

TEST(Lanes, RowsOfOthersAreLeftOutToTheEndOfTheEpoch) {
  PreparedLanes prepared(2, kBatch);
  EXPECT_TRUE(prepared.keep({true, false}));
  EXPECT_FALSE(prepared.keep({true, false}));
  for (std::uint64_t row = 0; row < kRows; ++row) {
    const bool own = row < kWhole ? row % kBatch < kBatch / 2 : row < (kWhole + kRows) / 2;
    EXPECT_EQ(prepared.has_row(row, kRows), own) << "row " << row;
  }
}

TEST(Lanes, OfAShortBatchEachRankFindsItsRowsAndTheFirst) {
  constexpr std::uint64_t kLanes = 4;
  for (std::uint32_t world = 1; world <= kBatch; ++world) {
    for (std::uint32_t rank = 0; rank < world; ++rank) {
      PreparedLanes prepared(kLanes, kBatch);
      prepared.keep(lanes_of_rank(kLanes, rank, world));
      for (std::uint64_t valid = 1; valid < kBatch; ++valid) {
        EXPECT_TRUE(prepared.has_row(kWhole, kWhole + valid));
        for (std::uint64_t row = rank * valid / world; row < (rank + 1) * valid / world; ++row) {
          EXPECT_TRUE(prepared.has_row(kWhole + row, kWhole + valid))
              << "row " << row << " of " << valid << ", rank " << rank << " of " << world;
        }
      }
    }
  }
}

TEST(Lanes, OfAShortBatchRowsOfOthersAreLeftOut) {
  PreparedLanes prepared(2, kBatch);
  prepared.keep({false, true});
  std::uint64_t own = 0;
  for (std::uint64_t row = 0; row < 6; ++row)
    own += prepared.has_row(kWhole + row, kWhole + 6) ? 1 : 0;
  EXPECT_EQ(own, 4U) << "its half, and the first row";
}

TEST(Lanes, AJoinerFindsThemFromWhereTheyAreStillToBePlanned) {
  PreparedLanes prepared(2, kBatch);
  prepared.keep({true, false});
  const plan::Position planned{0, 40};
  EXPECT_TRUE(prepared.add({true, false}, {0, 8}, planned));
  EXPECT_FALSE(prepared.add({true, true}, {0, 32}, planned));
  EXPECT_FALSE(prepared.has_row(44, kRows)) << "a refusal changes nothing";
  EXPECT_TRUE(prepared.add({true, true}, {0, 40}, planned));
  EXPECT_TRUE(prepared.has_row(44, kRows));
  EXPECT_FALSE(prepared.add({false, true}, {0, 32}, {0, 80})) << "these were planned without it";
  EXPECT_TRUE(prepared.add({false, true}, {0, 40}, {0, 80}));
}

}  // namespace
}  // namespace echoline::engine
