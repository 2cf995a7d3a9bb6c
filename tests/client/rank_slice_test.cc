#include "mapped_ring/rank_slice.h"

#include <gtest/gtest.h>

#include <vector>

namespace echoline::client {
namespace {

TEST(RankSlice, AllRanksTogetherGetEachRowOnceForAllPoliciesAndTails) {
  for (const auto last : {shm::kLastDrop, shm::kLastPartial, shm::kLastPad}) {
    for (std::uint32_t world = 1; world <= 9; ++world) {
      for (std::uint64_t part = 1; part <= 5; ++part) {
        const std::uint64_t batch = part * world;
        for (std::uint64_t valid = 1; valid <= batch; ++valid) {
          std::vector<int> seen(valid);
          std::uint64_t padded = 0;
          for (std::uint32_t rank = 0; rank < world; ++rank) {
            const RankRows slice = rank_rows({batch, rank, world, last}, valid);
            for (std::uint64_t row = slice.begin; row < slice.end; ++row) ++seen[row];
            if (last == shm::kLastDrop && valid < batch) {
              EXPECT_EQ(slice.rows, 0U);
              continue;
            }
            EXPECT_GE(slice.rows, 1U) << "never a batch of no rows";
            EXPECT_LE(slice.rows, part);
            if (last == shm::kLastPad || valid < world) {
              EXPECT_EQ(slice.rows, part);
            }
            padded += slice.padded();
          }
          const int times = last == shm::kLastDrop && valid < batch ? 0 : 1;
          EXPECT_EQ(seen, std::vector<int>(valid, times));
          if (valid == batch) {
            EXPECT_EQ(padded, 0U);
          }
        }
      }
    }
  }
}

TEST(RankSlice, AShortBatchIsDividedByTheFormula) {
  // 10 of 16 rows over 4 ranks: floor(10 r / 4).
  const std::uint64_t borders[] = {0, 2, 5, 7, 10};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const RankRows slice = rank_rows({16, rank, 4, shm::kLastPartial}, 10);
    EXPECT_EQ(slice.begin, borders[rank]);
    EXPECT_EQ(slice.end, borders[rank + 1]);
    EXPECT_FALSE(slice.padded());
  }
}

TEST(RankSlice, StepsOfAnEpochIncludeTheTailUnlessItIsDropped) {
  EXPECT_EQ(steps_between({4, 0, 1, shm::kLastDrop}, 0, 10), 2U);
  EXPECT_EQ(steps_between({4, 0, 1, shm::kLastPartial}, 0, 10), 3U);
  EXPECT_EQ(steps_between({4, 0, 1, shm::kLastPad}, 8, 10), 1U);
  EXPECT_EQ(steps_between({4, 0, 1, shm::kLastDrop}, 8, 10), 0U);
  EXPECT_EQ(steps_between({5, 0, 1, shm::kLastDrop}, 0, 10), 2U);
  EXPECT_EQ(steps_between({4, 0, 1, shm::kLastPartial}, 12, 10), 0U);
}

TEST(RankSlice, LargeSizesDoNotOverflow) {
  const std::uint64_t big = std::uint64_t{1} << 62;
  const RankRows slice = rank_rows({big, 3, 4, shm::kLastPartial}, big);
  EXPECT_EQ(slice.begin, big / 4 * 3);
  EXPECT_EQ(slice.end, big);
}

}  // namespace
}  // namespace echoline::client
