// The mixing of passes: the counts are exact for any size, and the rows as even as possible.
#include "plan/interleave.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

TEST(Interleave, DividesProductsOfUpTo128BitsExactly) {
  Dice dice(71);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t c = dice.between(1, std::uint64_t{1} << dice.between(1, 62));
    const std::uint64_t a = dice.between(0, c);
    const std::uint64_t b = dice.between(0, std::uint64_t{1} << dice.between(1, 62));
    const Quotient quotient = multiply_divide(a, b, c);
    ASSERT_LT(quotient.rest, c);
    ASSERT_TRUE(static_cast<Uint128>(quotient.whole) * c + quotient.rest ==
                static_cast<Uint128>(a) * b);
  }
}

TEST(Interleave, GivesEachPassItsRowsSpreadEvenly) {
  Dice dice(72);
  for (int i = 0; i < scaled(3000); ++i) {
    const std::uint64_t all = dice.between(1, 200);
    const std::uint64_t rows = dice.between(1, all);
    std::uint64_t before = 0;
    for (std::uint64_t place = 0; place < all; ++place) {
      const Taken taken = taken_evenly(place, rows, all);
      ASSERT_EQ(taken.before, before);
      const double due = static_cast<double>(place * rows) / static_cast<double>(all);
      ASSERT_LT(std::abs(due - static_cast<double>(before)), 1);
      before += taken.here;
    }
    ASSERT_EQ(before, rows);
  }
}

TEST(Interleave, IsExactIfTheProductNeedsMoreThan64Bits) {
  const std::uint64_t rows = std::uint64_t{1} << 40;
  for (std::uint64_t turn = 1; turn < rows; turn *= 2) {
    EXPECT_EQ(taken_evenly(3 * turn, rows, 3 * rows).before, turn);
    EXPECT_FALSE(taken_evenly(3 * turn, rows, 3 * rows).here);
    EXPECT_TRUE(taken_evenly(3 * turn + 2, rows, 3 * rows).here);
  }
}

TEST(Interleave, WithoutMixingTakesAWholePassFirst) {
  EXPECT_TRUE(taken_in_turn(3, 4).here);
  EXPECT_EQ(taken_in_turn(3, 4).before, 3U);
  EXPECT_FALSE(taken_in_turn(4, 4).here);
  EXPECT_EQ(taken_in_turn(9, 4).before, 4U);
}

}  // namespace
}  // namespace echoline::plan
