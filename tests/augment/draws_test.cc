// Draws: equal for equal keys, within their bounds, and equal to values of another implementation.
#include "augment/draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace echoline::augment {
namespace {

constexpr Range kScale{0.08, 1.0};
constexpr Range kRatio{3.0 / 4.0, 4.0 / 3.0};

UseKey key_of(std::uint64_t sample, std::uint16_t use = 2) {
  return {.seed = 7, .sample = sample, .epoch = 3, .use = use};
}

TEST(Draws, EqualThoseOfTheSecondImplementation) {
  EXPECT_EQ(random_resized_crop_box(key_of(0), 2, 375, 500, kScale, kRatio),
            (Box{2, 38, 353, 428}));
  EXPECT_EQ(random_resized_crop_box(key_of(1), 2, 375, 500, kScale, kRatio),
            (Box{14, 56, 269, 354}));
  EXPECT_EQ(random_resized_crop_box(key_of(123456789012), 2, 375, 500, kScale, kRatio),
            (Box{3, 51, 244, 262}));
  EXPECT_EQ(random_crop_box(key_of(0), 1, 40, 40, 32, 30), (Box{3, 2, 32, 30}));
  EXPECT_EQ(cutout_box(key_of(0), 3, 40, 40, 16), (Box{0, 22, 16, 16}));
  EXPECT_EQ(flip_drawn(key_of(0), 4, 0.5), true);
  EXPECT_EQ(random_crop_box(key_of(1), 1, 40, 40, 32, 30), (Box{6, 2, 32, 30}));
  EXPECT_EQ(cutout_box(key_of(1), 3, 40, 40, 16), (Box{21, 3, 16, 16}));
  EXPECT_EQ(flip_drawn(key_of(1), 4, 0.5), true);
  const JitterDraw draw = color_jitter_draw(key_of(5), 1, {0.4, 0.4, 0.4, 0.1}, 0.8);
  EXPECT_EQ(draw.order[0], Jitter::kBrightness);
  EXPECT_DOUBLE_EQ(draw.factors[0], 1.301997080801094);
  EXPECT_EQ(draw.order[1], Jitter::kContrast);
  EXPECT_DOUBLE_EQ(draw.factors[1], 1.3578319087990511);
  EXPECT_EQ(draw.order[2], Jitter::kSaturation);
  EXPECT_DOUBLE_EQ(draw.factors[2], 0.9100061050344377);
  EXPECT_EQ(draw.order[3], Jitter::kHue);
  EXPECT_DOUBLE_EQ(draw.factors[3], -0.05798582504317498);
  const auto changes = [](double probability) {
    return color_jitter_draw(key_of(5), 1, {0.4, 0.4, 0.4, 0.1}, probability).changes;
  };
  EXPECT_TRUE(changes(0.62158));
  EXPECT_FALSE(changes(0.62157));
}

TEST(Draws, CropsAreWithinTheImageAndTheRangesOfAreaAndRatio) {
  for (std::uint64_t sample = 0; sample < 5000; ++sample) {
    const auto height = static_cast<std::uint32_t>(100 + sample % 300);
    const std::uint32_t width = 250;
    const Box box = random_resized_crop_box(key_of(sample), 2, height, width, kScale, kRatio);
    ASSERT_LE(box.top + box.height, height);
    ASSERT_LE(box.left + box.width, width);
    const double share = static_cast<double>(box.height) * box.width / (height * width);
    EXPECT_GT(share, 0.07);
    const double ratio = static_cast<double>(box.width) / box.height;
    EXPECT_GT(ratio, 0.72);
    EXPECT_LT(ratio, 1.39);
  }
}

TEST(Draws, CropsOfTheWholeScaleHaveTheirMeanArea) {
  double sum = 0;
  constexpr int kCount = 20000;
  for (std::uint64_t sample = 0; sample < kCount; ++sample) {
    const Box box = random_resized_crop_box(key_of(sample), 2, 2000, 2000, {0.08, 0.5}, kRatio);
    sum += static_cast<double>(box.height) * box.width / 4e6;
  }
  EXPECT_NEAR(sum / kCount, 0.29, 0.003);
}

TEST(Draws, AThinStripGetsACentreCrop) {
  const Box box = random_resized_crop_box(key_of(0), 2, 1000, 9, {0.9, 1.0}, kRatio);
  EXPECT_EQ(box, (Box{494, 0, 12, 9}));
  EXPECT_EQ(random_resized_crop_box(key_of(0), 2, 1, 1, kScale, kRatio), (Box{0, 0, 1, 1}));
}

TEST(Draws, UsesStepsAndSamplesDiffer) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> places;
  for (std::uint64_t sample = 0; sample < 10; ++sample) {
    for (std::uint16_t use = 0; use < 10; ++use) {
      for (std::uint8_t step = 0; step < 10; ++step) {
        const Box box = random_crop_box(key_of(sample, use), step, 60000, 60000, 10, 10);
        places.insert({box.top, box.left});
      }
    }
  }
  EXPECT_EQ(places.size(), 1000U);
}

TEST(Draws, RandomCropsReachEveryPlace) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> places;
  for (std::uint64_t sample = 0; sample < 2000; ++sample) {
    const Box box = random_crop_box(key_of(sample), 0, 14, 12, 10, 10);
    places.insert({box.top, box.left});
  }
  EXPECT_EQ(places.size(), 15U);
}

TEST(Draws, FlipsHaveTheirProbability) {
  int flips = 0;
  for (std::uint64_t sample = 0; sample < 10000; ++sample) {
    EXPECT_FALSE(flip_drawn(key_of(sample), 1, 0));
    EXPECT_TRUE(flip_drawn(key_of(sample), 1, 1));
    flips += flip_drawn(key_of(sample), 1, 0.25) ? 1 : 0;
  }
  EXPECT_NEAR(flips, 2500, 150);
}

TEST(Draws, CutoutsAreClippedAndNeverEmpty) {
  for (std::uint64_t sample = 0; sample < 2000; ++sample) {
    const Box box = cutout_box(key_of(sample), 1, 8, 20, 6);
    EXPECT_GE(box.height, 3U);
    EXPECT_LE(box.height, 6U);
    EXPECT_LE(box.top + box.height, 8U);
    EXPECT_LE(box.left + box.width, 20U);
  }
}

TEST(Draws, JittersHaveAllOrdersAndStayInRange) {
  std::set<std::array<Jitter, 4>> orders;
  int changes = 0;
  for (std::uint64_t sample = 0; sample < 1000; ++sample) {
    const JitterDraw draw = color_jitter_draw(key_of(sample), 1, {0.4, 1.7, 0, 0.1}, 0.3);
    const JitterDraw always = color_jitter_draw(key_of(sample), 1, {0.4, 1.7, 0, 0.1}, 1);
    EXPECT_TRUE(always.changes);
    EXPECT_EQ(draw.order, always.order);
    EXPECT_EQ(draw.factors, always.factors);
    changes += draw.changes ? 1 : 0;
    orders.insert(draw.order);
    EXPECT_GE(draw.factors[0], 0.6);
    EXPECT_LE(draw.factors[0], 1.4);
    EXPECT_GE(draw.factors[1], 0);
    EXPECT_LE(draw.factors[1], 2.7);
    EXPECT_EQ(draw.factors[2], 1);
    EXPECT_LE(std::abs(draw.factors[3]), 0.1);
  }
  EXPECT_EQ(orders.size(), 24U);
  EXPECT_NEAR(changes, 300, 50);
}

}  // namespace
}  // namespace echoline::augment
