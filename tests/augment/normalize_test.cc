// Normalised rows have the values of the formula, bit for bit, with each kind of vector
// instructions.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "augment/half.h"
#include "augment/normalizer.h"
#include "decode/each_target.h"
#include "echoline/v1/config.pb.h"

namespace echoline::augment {
namespace {

using Normalize = EachTarget;

// Pixels with all values, and rows that are longer than the view.
struct Pixels {
  Pixels(const ImageSize& size, std::uint32_t channels, bool mirrored) {
    view.stride = std::size_t{size.width} * channels + 5;
    bytes.resize(view.stride * size.height);
    std::mt19937 random(size.width);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    view.data = bytes.data();
    view.size = size;
    view.channels = channels;
    view.mirrored = mirrored;
  }

  std::vector<std::uint8_t> bytes;
  View view;
};

void check(const v1::Normalize& step, const View& view) {
  const auto normalizer = Normalizer::compile(step, view.channels);
  ASSERT_TRUE(normalizer.ok()) << normalizer.status().message();
  const bool half = step.dtype() == "float16";
  const std::size_t each = half ? 2 : 4;
  const std::size_t height = view.size.height;
  const std::size_t width = view.size.width;
  // At an odd address, as a row in a batch can be; the last byte must stay as it is.
  std::vector<std::byte> made(view.bytes() * each + 2, std::byte{0xA5});
  normalizer.value().write(view, made.data() + 1);
  ASSERT_EQ(made.back(), std::byte{0xA5});
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < view.channels; ++c) {
        const std::size_t column = view.mirrored ? width - 1 - x : x;
        const std::uint8_t pixel = view.row(y)[column * view.channels + c];
        const auto channel = static_cast<int>(c);
        const float value =
            (static_cast<float>(pixel) / 255.0F - static_cast<float>(step.mean(channel))) /
            static_cast<float>(step.std(channel));
        const std::uint16_t short_value = to_half(value);
        const std::size_t place = step.layout() == "hwc" ? (y * width + x) * view.channels + c
                                                         : (c * height + y) * width + x;
        const void* expected = half ? static_cast<const void*>(&short_value) : &value;
        ASSERT_EQ(std::memcmp(made.data() + 1 + place * each, expected, each), 0)
            << y << ", " << x << ", " << c << ": " << value;
      }
    }
  }
}

TEST_P(Normalize, GivesTheValuesOfTheFormula) {
  // ImageNet's numbers, and some that are far from a byte's range or have no reciprocal.
  const std::vector<std::pair<double, double>> numbers = {
      {0.485, 0.229}, {0.456, 0.224}, {0.406, 0.225}, {0, 1},      {-3e4, 1e-3},
      {0.5, 1e-39},   {1e-20, 1e20},  {0.1307, -0.3}, {0.5, 1e-5}, {1, 1.0 / 255}};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (const std::uint32_t channels : {1U, 3U}) {
      v1::Normalize step;
      for (std::size_t c = 0; c < channels; ++c) {
        step.add_mean(numbers[(i + c) % numbers.size()].first);
        step.add_std(numbers[(i + c) % numbers.size()].second);
      }
      for (const char* dtype : {"float32", "float16"}) {
        for (const char* layout : {"chw", "hwc"}) {
          step.set_dtype(dtype);
          step.set_layout(layout);
          SCOPED_TRACE(step.ShortDebugString());
          for (const std::uint32_t width : {1U, 16U, 97U, 224U, 1100U}) {
            const Pixels pixels({3, width}, channels, width == 97 && i % 2 == 0);
            ASSERT_NO_FATAL_FAILURE(check(step, pixels.view));
          }
        }
      }
    }
  }
}

TEST_P(Normalize, ComputesTheValuesOfTheUsualNumbers) {
  for (const auto& [mean, deviation] : {std::pair(0.485F, 0.229F), {0.5F, 0.5F}, {0.0F, 1.0F}}) {
    NormalizedValues expected;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = (static_cast<float>(i) / 255.0F - mean) / deviation;
    }
    EXPECT_TRUE(find_steps({&mean, 1}, {&deviation, 1}, {&expected, 1}).has_value());
    expected[77] = std::nextafter(expected[77], 9.0F);
    EXPECT_FALSE(find_steps({&mean, 1}, {&deviation, 1}, {&expected, 1}).has_value());
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, Normalize, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return hwy::TargetName(target.param); });

}  // namespace
}  // namespace echoline::augment
