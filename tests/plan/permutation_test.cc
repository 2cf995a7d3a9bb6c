// Permutations without tables: each is complete, the results are uniform, and different keys give
// different permutations.
#include "plan/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "random_spec.h"
#include "statistics.h"

namespace echoline::plan {
namespace {

using namespace testing;

Permutation permutation(std::uint64_t count, std::uint64_t block) {
  return Permutation(count, order_key(5, {.purpose = Purpose::kEcho, .block = block}));
}

TEST(Permutation, IsOneToOneForEverySize) {
  for (std::uint64_t count = 1; count <= 2000; ++count) {
    const Permutation order = permutation(count, count);
    std::vector<bool> seen(count, false);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t place = order(i);
      ASSERT_LT(place, count);
      ASSERT_FALSE(seen[place]) << count;
      seen[place] = true;
    }
  }
}

TEST(Permutation, StaysInRangeForSizesOfSampleIds) {
  for (const std::uint64_t count :
       {(std::uint64_t{1} << 40) - 1, std::uint64_t{1} << 42, (std::uint64_t{1} << 40) + 12345}) {
    const Permutation order = permutation(count, 1);
    std::vector<std::uint64_t> places;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      places.push_back(order(count - 1 - i * (count / 1000)));
      ASSERT_LT(places.back(), count);
    }
    std::sort(places.begin(), places.end());
    EXPECT_EQ(std::adjacent_find(places.begin(), places.end()), places.end());
  }
}

TEST(Permutation, TakesEveryOrderOfAFewElementsEquallyOften) {
  for (std::uint64_t count = 2; count <= 6; ++count) {
    std::map<std::vector<std::uint64_t>, std::uint64_t> times;
    std::vector<std::uint64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    do times[order] = 0;
    while (std::next_permutation(order.begin(), order.end()));
    const std::uint64_t tries = 200 * times.size();
    for (std::uint64_t key = 0; key < tries; ++key) {
      const Permutation random = permutation(count, key);
      for (std::uint64_t i = 0; i < count; ++i) order[i] = random(i);
      ++times[order];
    }
    std::vector<std::uint64_t> counts;
    for (const auto& [_, number] : times) counts.push_back(number);
    const double off = chi_square_deviation(counts);
    EXPECT_LT(std::abs(off), 4.5) << count << " elements";
  }
}

TEST(Permutation, PutsAPairOfElementsAnywhereEquallyOften) {
  for (const std::uint64_t count : {7, 20, 63, 64, 65, 90}) {
    std::vector<std::uint64_t> cells(count * count, 0);
    for (std::uint64_t key = 0; key < 40 * count * count; ++key) {
      const Permutation random = permutation(count, key);
      ++cells[random(0) * count + random(1)];
    }
    std::vector<std::uint64_t> off_diagonal;
    for (std::uint64_t a = 0; a < count; ++a) {
      for (std::uint64_t b = 0; b < count; ++b) {
        if (a != b) off_diagonal.push_back(cells[a * count + b]);
      }
    }
    const double off = chi_square_deviation(off_diagonal);
    EXPECT_LT(std::abs(off), 4.5) << count << " elements";
  }
}

TEST(Permutation, HasAsManyFixedPointsAndKeptPairsAsChance) {
  std::uint64_t fixed = 0, neighbours = 0;
  for (std::uint64_t key = 0; key < 300; ++key) {
    const Permutation random = permutation(1000, key);
    for (std::uint64_t i = 0; i < 1000; ++i) fixed += random(i) == i;
    for (std::uint64_t i = 0; i + 1 < 1000; ++i) neighbours += random(i) + 1 == random(i + 1);
  }
  // One is expected per permutation, with a Poisson distribution.
  EXPECT_NEAR(static_cast<double>(fixed), 300, 5 * std::sqrt(300));
  EXPECT_NEAR(static_cast<double>(neighbours), 300, 5 * std::sqrt(300));
}

TEST(Permutation, SharesNoKeysBetweenPurposesLanesBlocksPassesAndEpochs) {
  const OrderUse use{.purpose = Purpose::kEcho, .epoch = 1, .lane = 1, .block = 1, .pass = 1};
  std::vector<OrderUse> others(7, use);
  others[1].purpose = Purpose::kEchoPlain;
  others[2].epoch = 2;
  others[3].lane = 2;
  others[4].block = 2;
  others[5].block = std::uint64_t{1} << 32 | 1;
  others[6].pass = 2;
  std::vector<std::uint64_t> keys;
  for (const OrderUse& other : others) keys.push_back(order_key(9, other).first);
  keys.push_back(order_key(10, use).first);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

}  // namespace
}  // namespace echoline::plan
