// Recipes: draws equal to those of the second implementation, pictures of any size, settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "augment/chain.h"
#include "augment/draws.h"
#include "augment/image_type.h"
#include "augment/steps.h"
#include "recipes/magnitudes.h"
#include "recipes/neighbours.h"
#include "recipes/recipe_draws.h"
#include "recipes/tones.h"

namespace echoline::augment {
namespace {

using recipes::Change;
using recipes::Changes;
using recipes::Operation;
using ::testing::HasSubstr;

constexpr ImageSize kSize{375, 500};

UseKey key_of(std::uint64_t sample) { return {.seed = 7, .sample = sample, .epoch = 3, .use = 2}; }

void expect_equal(const Changes& found, const std::vector<Change>& expected) {
  ASSERT_EQ(found.span().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found.span()[i].operation, expected[i].operation) << i;
    EXPECT_NEAR(found.span()[i].amount, expected[i].amount, 1e-12) << i;
  }
}

TEST(Recipes, DrawsEqualThoseOfTheSecondImplementation) {
  const recipes::RandAugment three{.operations = 3, .magnitude = 11};
  expect_equal(rand_augment_draw(key_of(0), 2, kSize, three),
               {{Operation::kSolarize, 255 * 0.6333333253860474},
                {Operation::kTranslateY, 62},
                {Operation::kShearX, 0.11000000685453415}});
  expect_equal(rand_augment_draw(key_of(3), 2, kSize, three),
               {{Operation::kContrast, 1.32999998331069946},
                {Operation::kRotate, 11},
                {Operation::kTranslateY, -62}});
  expect_equal(recipes::trivial_augment_wide_draw(key_of(2), 2, kSize, 31),
               {{Operation::kTranslateY, -7}});
  expect_equal(auto_augment_draw(key_of(2), 2, kSize, recipes::Policy::kCifar10),
               {{Operation::kSharpness, 1.8999999761581421},
                {Operation::kBrightness, 1 - 0.8999999761581421}});
  expect_equal(auto_augment_draw(key_of(3), 2, kSize, recipes::Policy::kCifar10), {});
  constexpr Range kScale{0.02, 0.33};
  constexpr Range kRatio{0.3, 3.3};
  EXPECT_FALSE(erased_box(key_of(0), 2, 375, 500, 0.5, kScale, kRatio));
  EXPECT_EQ(erased_box(key_of(2), 2, 375, 500, 0.5, kScale, kRatio), (Box{265, 50, 99, 65}));
  EXPECT_DOUBLE_EQ(blur_sigma(key_of(3), 2, 1, {0.1, 2.0}).value(), 1.251072610479489);
}

// With torch.linspace, the 16th of 31 magnitudes up to 32 pixels is 15.999999.
TEST(Recipes, TranslationsAreCutAsTorchDoes) {
  const auto moved = [](std::uint32_t index) {
    return change_of(recipes::Space::kWide, Operation::kTranslateX, index, 31, false, kSize).amount;
  };
  EXPECT_EQ(moved(15), 15);
  EXPECT_EQ(moved(30), 32);
}

TEST(Recipes, TrivialAugmentDrawsAllOperationsAndMagnitudes) {
  std::set<std::pair<Operation, double>> drawn;
  for (std::uint64_t sample = 0; sample < 20000; ++sample) {
    const Changes changes = recipes::trivial_augment_wide_draw(key_of(sample), 1, kSize, 5);
    ASSERT_EQ(changes.span().size(), 1U);
    drawn.insert({changes.span()[0].operation, changes.span()[0].amount});
  }
  // Two have five magnitudes, nine have them in both directions, and 0 is the same in both.
  EXPECT_EQ(drawn.size(), 3U + 2 * 5 + 9 * 9);
}

TEST(Recipes, ErasedRectanglesAreSmallerThanThePictureOnBothSides) {
  int erased = 0;
  for (std::uint64_t sample = 0; sample < 2000; ++sample) {
    const auto box = erased_box(key_of(sample), 1, 9, 20, 1, {0.2, 1.0}, {0.3, 3.3});
    if (!box) continue;
    ++erased;
    EXPECT_LT(box->height, 9U);
    EXPECT_LT(box->width, 20U);
    EXPECT_LE(box->top + box->height, 9U);
    EXPECT_LE(box->left + box->width, 20U);
  }
  EXPECT_GT(erased, 1000) << "of 2000: ten tries seldom fail";
}

// The row that these steps make of a picture of one colour.
std::vector<std::byte> row_of(const std::vector<std::string>& steps, const ImageSize& size,
                              std::uint32_t channels, std::uint64_t sample_id) {
  const auto chain = Chain::compile(stream_of(steps), {image_type(channels)});
  EXPECT_TRUE(chain.ok()) << chain.status().message();
  decode::Sample sample;
  decode::Tensor& tensor = sample.tensors.emplace_back();
  tensor.shape = {{size.height, size.width, channels}, 3};
  tensor.bytes.resize(tensor.shape.elements());
  std::fill_n(tensor.bytes.data(), tensor.bytes.size(), std::byte{100});
  std::vector<std::byte> row(tensor.bytes.size());
  const std::span<std::byte> rows[] = {row};
  const auto scratch = chain.value()->make_scratch();
  const Status status = chain.value()->run(sample, key_of(sample_id), *scratch, rows, {});
  EXPECT_TRUE(status.ok()) << status.message();
  return row;
}

TEST(Recipes, RunOnPicturesOfAnySize) {
  const std::vector<std::string> steps = {
      "horizontal_flip { field: 'image' probability: 0.5 }",
      "rand_augment { field: 'image' operations: 16 magnitude: 30 interpolation: 'bilinear' }",
      "gaussian_blur { field: 'image' size: 23 }",
      "trivial_augment_wide { field: 'image' fill: 200 }",
      "random_erasing { field: 'image' probability: 1 }",
      "auto_augment { field: 'image' policy: 'svhn' }",
      "adjust_sharpness { field: 'image' factor: 3 }"};
  for (const ImageSize& size : {ImageSize{1, 1}, {1, 40}, {40, 1}, {2, 2}, {3, 5}, {17, 31}}) {
    for (const std::uint32_t channels : {1U, 3U}) {
      for (std::uint64_t sample = 0; sample < 30; ++sample) {
        row_of(steps, size, channels, sample);
      }
    }
  }
}

TEST(Recipes, FillReachesEachChannel) {
  const auto row =
      row_of({"random_erasing { field: 'image' probability: 1 scale: [0.9, 0.9] fill: [1, 2, 3] }"},
             {40, 40}, 3, 0);
  const std::byte fill[] = {std::byte{1}, std::byte{2}, std::byte{3}};
  EXPECT_NE(std::search(row.begin(), row.end(), std::begin(fill), std::end(fill)), row.end());
}

TEST(Recipes, ABlurOfOneColourKeepsIt) {
  const auto row =
      row_of({"gaussian_blur { field: 'image' size: 255 sigma: [90, 90] }"}, {20, 30}, 3, 0);
  EXPECT_EQ(std::count(row.begin(), row.end(), std::byte{100}), 20 * 30 * 3);
}

TEST(Recipes, InvalidSettingsAreRefusedWithTheAllowedValues) {
  const std::pair<const char*, const char*> kCases[] = {
      {"rand_augment { field: 'image' operations: 17 }", "operations is 17; 1 to 16 is allowed"},
      {"rand_augment { field: 'image' magnitude: 31 }", "magnitude is 31; 0 to 30 is allowed"},
      {"rand_augment { field: 'image' bins: 1 }", "bins is 1; 2 to 1000"},
      {"rand_augment { field: 'image' interpolation: 'bicubic' }", "allowed are nearest, bilinear"},
      {"trivial_augment_wide { field: 'image' fill: [1, 2] }",
       "fill has 2 values; one, or 3, one for each channel, is allowed"},
      {"trivial_augment_wide { field: 'image' fill: 256 }", "fill has 256; 0 to 255"},
      {"auto_augment { field: 'image' policy: 'mnist' }", "allowed are imagenet, cifar10, svhn"},
      {"random_erasing { field: 'image' scale: [0, 2] }", "scale is [0, 2]"},
      {"random_erasing { field: 'image' probability: 2 }", "probability is 2; 0 to 1"},
      {"gaussian_blur { field: 'image' size: 4 }", "size is 4; an odd number of at most 255"},
      {"gaussian_blur { field: 'image' size: 5 sigma: [2, 1] }", "sigma is [2, 1]"},
      {"solarize { field: 'image' threshold: 300 }", "threshold is 300; 0 to 256"},
      {"posterize { field: 'image' bits: 9 }", "bits is 9; 0 to 8"},
      {"adjust_sharpness { field: 'image' factor: -1 }", "factor is -1; 0 to 1000"},
  };
  for (const auto& [step, words] : kCases) {
    const auto chain = Chain::compile(stream_of({step}), {image_type(3)});
    ASSERT_FALSE(chain.ok()) << step;
    EXPECT_THAT(chain.status().message(), HasSubstr(words));
  }
}

}  // namespace
}  // namespace echoline::augment
