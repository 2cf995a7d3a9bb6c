// Ragged values are placed in the order of rows, whatever the order of the workers.
#include "engine/pass/row_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/pass/in_flight_batch.h"

namespace echoline::engine {
namespace {

using testing::ElementsAre;

TEST(RowTurns, PlacesFollowEachOtherAndAChunkWaitsForTheRowBefore) {
  InFlightBatch batch;
  Chunk later(batch, 2, 4);
  RowTurns turns(2);
  std::vector<std::uint64_t> begins;
  EXPECT_FALSE(turns.is_next(2, later));
  EXPECT_EQ(turns.take(std::vector<std::uint64_t>{5, 1}, begins), nullptr);
  EXPECT_THAT(begins, ElementsAre(0, 0));
  EXPECT_EQ(turns.take(std::vector<std::uint64_t>{0, 7}, begins), &later);
  EXPECT_THAT(begins, ElementsAre(5, 1));
  EXPECT_TRUE(turns.is_next(2, later));
  EXPECT_EQ(turns.take(std::vector<std::uint64_t>{1, 1}, begins), nullptr) << "it waits no more";
  EXPECT_THAT(begins, ElementsAre(5, 8));
}

}  // namespace
}  // namespace echoline::engine
