// Compares the resize with the formula computed pixel by pixel; all bits must be equal.
#include "augment/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "augment/half.h"

namespace echoline::augment {
namespace {

struct Pixels {
  ImageSize size;
  std::uint32_t channels = 3;
  std::vector<std::uint8_t> data;

  std::uint8_t& at(std::size_t y, std::size_t x, std::size_t c) {
    return data[(y * size.width + x) * channels + c];
  }
  View view() const {
    return {{data.data(), std::size_t{size.width} * channels, size, channels}, false};
  }
};

Pixels noise(const ImageSize& size, std::uint32_t channels) {
  Pixels pixels{size, channels, std::vector<std::uint8_t>(size.pixels() * channels)};
  std::uint32_t state = 1;
  for (std::uint8_t& byte : pixels.data) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return pixels;
}

double filter_weight(Filter filter, double x) {
  x = std::abs(x);
  if (filter == Filter::kBilinear) return x < 1 ? 1 - x : 0;
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
}

// One output value of a line of values.
std::uint8_t plain_output(const std::vector<std::uint8_t>& line, std::uint32_t out, std::uint32_t i,
                          Filter filter) {
  const double scale = static_cast<double>(line.size()) / out;
  const double stretch = std::max(1.0, scale);
  const double support = (filter == Filter::kBilinear ? 1 : 2) * stretch;
  const double centre = (i + 0.5) * scale;
  const int first = std::max(0, static_cast<int>(centre - support + 0.5));
  const int last =
      std::min(static_cast<int>(line.size()), static_cast<int>(centre + support + 0.5));
  double total = 0;
  for (int x = first; x < last; ++x)
    total += filter_weight(filter, (x - centre + 0.5) * (1.0 / stretch));
  std::int64_t sum = 1 << 21;
  for (int x = first; x < last; ++x) {
    const double weight = filter_weight(filter, (x - centre + 0.5) * (1.0 / stretch)) / total;
    const double fixed = weight * (1 << 22);
    sum += static_cast<std::int64_t>(fixed < 0 ? fixed - 0.5 : fixed + 0.5) *
           line[static_cast<std::size_t>(x)];
  }
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> 22, 0, 255));
}

Pixels plain_resize(Pixels in, const ImageSize& size, Filter filter) {
  if (in.size.width != size.width) {
    Pixels wide = noise({in.size.height, size.width}, in.channels);
    std::vector<std::uint8_t> line(in.size.width);
    for (std::size_t y = 0; y < in.size.height; ++y) {
      for (std::size_t c = 0; c < in.channels; ++c) {
        for (std::size_t x = 0; x < line.size(); ++x) line[x] = in.at(y, x, c);
        for (std::uint32_t x = 0; x < size.width; ++x) {
          wide.at(y, x, c) = plain_output(line, size.width, x, filter);
        }
      }
    }
    in = wide;
  }
  if (in.size.height == size.height) return in;
  Pixels out = noise(size, in.channels);
  std::vector<std::uint8_t> line(in.size.height);
  for (std::size_t x = 0; x < size.width; ++x) {
    for (std::size_t c = 0; c < in.channels; ++c) {
      for (std::size_t y = 0; y < line.size(); ++y) line[y] = in.at(y, x, c);
      for (std::uint32_t y = 0; y < size.height; ++y) {
        out.at(y, x, c) = plain_output(line, size.height, y, filter);
      }
    }
  }
  return out;
}

bool resize_whole(const View& view, const ImageSize& out, Filter filter, bool flip,
                  ResizeScratch& scratch, std::uint8_t* pixels) {
  return resize(view, whole_axis(view.size.height, out.height),
                whole_axis(view.size.width, out.width), filter, flip, scratch, pixels);
}

Pixels mirrored(Pixels in) {
  mirror_pixels(in.data.data(), in.size, in.channels);
  return in;
}

TEST(Resize, EqualsThePlainFormulaBitForBit) {
  ResizeScratch scratch;
  for (const std::uint32_t channels : {1U, 3U}) {
    for (const ImageSize in : {ImageSize{1, 1}, {1, 40}, {40, 1}, {37, 53}, {90, 64}}) {
      const Pixels source = noise(in, channels);
      for (const ImageSize out :
           {ImageSize{1, 1}, {37, 53}, {20, 53}, {37, 20}, {16, 17}, {120, 131}}) {
        for (const Filter filter : {Filter::kBilinear, Filter::kBicubic}) {
          Pixels made = noise(out, channels);
          EXPECT_FALSE(resize_whole(source.view(), out, filter, false, scratch, made.data.data()));
          EXPECT_EQ(made.data, plain_resize(source, out, filter).data)
              << in.height << "x" << in.width << " to " << out.height << "x" << out.width;
        }
      }
    }
  }
}

TEST(Resize, FlipsBeforeAndAfterEqualMirroredWeights) {
  ResizeScratch scratch;
  const Pixels source = noise({45, 61}, 3);
  for (const ImageSize out : {ImageSize{20, 30}, {45, 30}, {20, 61}, {45, 61}, {80, 100}}) {
    for (const Filter filter : {Filter::kBilinear, Filter::kBicubic}) {
      for (const auto& [before, after] : {std::pair(false, true), {true, false}, {true, true}}) {
        Pixels expected = plain_resize(before ? mirrored(source) : source, out, filter);
        if (after) expected = mirrored(expected);
        View view = source.view();
        view.mirrored = before;
        Pixels made = noise(out, 3);
        if (resize_whole(view, out, filter, after, scratch, made.data.data()))
          made = mirrored(made);
        EXPECT_EQ(made.data, expected.data);
      }
    }
  }
}

TEST(Resize, OfACropUsesNoPixelOutsideIt) {
  ResizeScratch scratch;
  Pixels source = noise({60, 70}, 3);
  const Box box{11, 13, 30, 40};
  Pixels cut = noise({box.height, box.width}, 3);
  copy_pixels(source.view().crop(box), cut.data.data());
  Pixels made = noise({17, 19}, 3);
  resize_whole(source.view().crop(box), made.size, Filter::kBicubic, false, scratch,
               made.data.data());
  EXPECT_EQ(made.data, plain_resize(cut, made.size, Filter::kBicubic).data);
}

TEST(Half, EveryValueSurvivesTheConversionToFloatAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const std::uint32_t exponent = bits >> 10 & 31;
    const std::uint32_t mantissa = bits & 1023;
    if (exponent == 31) continue;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    const double magnitude = exponent == 0
                                 ? std::ldexp(mantissa, -24)
                                 : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
    ASSERT_EQ(to_half(static_cast<float>(std::copysign(magnitude, sign))), bits);
  }
}

TEST(Half, RoundsHalfToEvenAndOverflowsToInfinity) {
  EXPECT_EQ(to_half(1.0F + 0x1p-11F), 0x3C00);
  EXPECT_EQ(to_half(1.0F + 3 * 0x1p-11F), 0x3C02);
  EXPECT_EQ(to_half(1.0F + 0x1p-11F + 0x1p-20F), 0x3C01);
  EXPECT_EQ(to_half(0x1p-25F), 0x0000);
  EXPECT_EQ(to_half(3 * 0x1p-25F), 0x0002);
  EXPECT_EQ(to_half(65519.0F), 0x7BFF);
  EXPECT_EQ(to_half(65520.0F), 0x7C00);
  EXPECT_EQ(to_half(-1e9F), 0xFC00);
  EXPECT_EQ(to_half(NAN) & 0x7E00, 0x7E00);
}

}  // namespace
}  // namespace echoline::augment
