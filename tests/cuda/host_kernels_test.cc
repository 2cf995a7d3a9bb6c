// Compares the plain loops with numbers that were computed by hand.
#include "cuda/host_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "cuda/kernel_params.h"

namespace echoline::cuda_test {
namespace {

using client::cuda::FlipParams;
using client::cuda::NormalizeParams;
using client::cuda::PadParams;
using ::testing::ElementsAre;

template <typename Params>
void run(std::string_view name, Params params) {
  void* parameters[] = {&params};
  for (const HostKernel& kernel : host_kernels()) {
    if (name == kernel.name) return kernel.run(parameters);
  }
  FAIL() << "no kernel " << name;
}

// Two rows of one line: three pixels of two channels.
constexpr std::uint8_t kPixels[] = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16};
constexpr std::uint8_t kSecondFlipped[] = {0, 1};

NormalizeParams two_rows(void* out, const std::uint8_t* flips) {
  return {kPixels, out, flips, 2, 1, 3, 2, {1, 10}, {0, 0.5}};
}

TEST(HostKernels, NormalisePutsChannelsFirst) {
  std::vector<float> out(12);
  run("echoline_normalize_f32_chw", two_rows(out.data(), kSecondFlipped));
  EXPECT_THAT(out, ElementsAre(1, 3, 5, 20.5, 40.5, 60.5, 15, 13, 11, 160.5, 140.5, 120.5));
}

TEST(HostKernels, NormaliseLeavesChannelsLast) {
  std::vector<float> out(12);
  run("echoline_normalize_f32_hwc", two_rows(out.data(), kSecondFlipped));
  EXPECT_THAT(out, ElementsAre(1, 20.5, 3, 40.5, 5, 60.5, 15, 160.5, 13, 140.5, 11, 120.5));
}

TEST(HostKernels, NoFlipsMirrorNothing) {
  std::vector<float> out(12);
  run("echoline_normalize_f32_hwc", two_rows(out.data(), nullptr));
  EXPECT_EQ(out[6], 11);
}

// `value` as the kernel rounds it: a pixel of 1 times the value.
std::uint16_t rounded(std::string_view kernel, float value) {
  const std::uint8_t pixel = 1;
  std::uint16_t out = 0;
  run(kernel, NormalizeParams{&pixel, &out, nullptr, 1, 1, 1, 1, {value}, {0}});
  return out;
}

TEST(HostKernels, HalfRoundsToNearestEven) {
  const auto half = [](float value) { return rounded("echoline_normalize_f16_chw", value); };
  EXPECT_EQ(half(1), 0x3c00);
  EXPECT_EQ(half(-2), 0xc000);
  EXPECT_EQ(half(1 + std::ldexp(1.0F, -11)), 0x3c00) << "half way, down to even";
  EXPECT_EQ(half(1 + 3 * std::ldexp(1.0F, -11)), 0x3c02) << "half way, up to even";
  EXPECT_EQ(half(1 + std::ldexp(1.1F, -11)), 0x3c01);
  EXPECT_EQ(half(65504), 0x7bff);
  EXPECT_EQ(half(65519.9F), 0x7bff);
  EXPECT_EQ(half(65520), 0x7c00) << "infinity";
  EXPECT_EQ(half(-1e30F), 0xfc00);
  EXPECT_EQ(half(std::ldexp(1.0F, -24)), 1) << "the smallest";
  EXPECT_EQ(half(std::ldexp(1.0F, -25)), 0);
  EXPECT_EQ(half(std::ldexp(3.0F, -25)), 2);
  EXPECT_EQ(half(std::ldexp(1.0F, -14)), 0x0400);
  EXPECT_EQ(half(std::ldexp(1.0F, -14) - std::ldexp(1.0F, -26)), 0x0400);
  EXPECT_EQ(half(NAN) & 0x7fff, 0x7fff);
}

TEST(HostKernels, BfloatRoundsToNearestEven) {
  const auto bfloat = [](float value) { return rounded("echoline_normalize_bf16_hwc", value); };
  EXPECT_EQ(bfloat(1), 0x3f80);
  EXPECT_EQ(bfloat(1 + std::ldexp(1.0F, -8)), 0x3f80);
  EXPECT_EQ(bfloat(1 + 3 * std::ldexp(1.0F, -8)), 0x3f82);
  EXPECT_EQ(bfloat(-1 - std::ldexp(1.1F, -8)), 0xbf81);
  EXPECT_EQ(bfloat(3.4e38F), 0x7f80);
  EXPECT_EQ(bfloat(NAN) & 0x7fff, 0x7fff);
}

TEST(HostKernels, FlipMirrorsPixelsOfAnySize) {
  std::vector<std::uint8_t> out(12);
  run("echoline_flip", FlipParams{kPixels, out.data(), kSecondFlipped, 2, 1, 3, 2});
  EXPECT_THAT(out, ElementsAre(1, 2, 3, 4, 5, 6, 15, 16, 13, 14, 11, 12));
}

TEST(HostKernels, PadFillsAndCuts) {
  // Elements of two bytes, padded to rows of two elements; the rows have one, none and three.
  const std::uint64_t offsets[] = {100, 102, 102, 108};
  std::vector<std::uint8_t> out(12);
  run("echoline_pad", PadParams{kPixels, offsets, out.data(), 4, 0x0907, 2, 3});
  EXPECT_THAT(out, ElementsAre(1, 2, 7, 9, 7, 9, 7, 9, 3, 4, 5, 6));
}

}  // namespace
}  // namespace echoline::cuda_test
