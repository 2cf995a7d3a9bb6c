// Each kind of vector instructions gives the bytes of the plain loops.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "augment/resize_passes.h"
#include "decode/each_target.h"

namespace echoline::augment {
namespace {

constexpr std::uint8_t kUnwritten = 0xA5;

std::vector<std::uint8_t> noise(std::size_t bytes) {
  std::vector<std::uint8_t> made(bytes);
  std::uint32_t state = static_cast<std::uint32_t>(bytes);
  for (std::uint8_t& byte : made) {
    state = state * 1664525 + 1013904223;
    // Many extreme values, which bicubic weights take beyond 0 and 255.
    byte = static_cast<std::uint8_t>((state >> 30) == 0   ? 0
                                     : (state >> 30) == 1 ? 255
                                                          : state >> 22);
  }
  return made;
}

// All pairs of a few sizes around those of the vectors, and larger ones.
std::vector<Axis> axes() {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 1; size <= 70; size += size < 20 ? 1 : 7) sizes.push_back(size);
  sizes.insert(sizes.end(), {224, 331});
  std::vector<Axis> made;
  for (const std::uint32_t in : sizes) {
    for (const std::uint32_t out : sizes) {
      if (in == out) continue;
      made.push_back(whole_axis(in, out));
      if (out > 2) made.push_back({in, out, out / 3, out - out / 3 - 1});
    }
  }
  return made;
}

void compare_rows(const Axis& axis, Filter filter, std::uint32_t channels, std::uint32_t height,
                  bool byte_products) {
  Weights weights;
  compute_weights(filter, axis, weights);
  const std::uint32_t width = source_range(filter, axis).count;
  if (height % 2 == 0) mirror_source(width, weights);
  if (height % 3 == 0) mirror_outputs(weights);
  // Sometimes a part of a larger picture. Without a byte to spare at the end, so that a sanitizer
  // sees each read beyond it.
  const std::size_t row_bytes = std::size_t{width} * channels;
  const std::size_t stride = row_bytes + (height % 4 == 0 ? 21 : 0);
  const std::vector<std::uint8_t> source = noise(stride * (height - 1) + row_bytes);
  const View view{{source.data(), stride, {height, width}, channels}, false};
  const std::size_t bytes = std::size_t{axis.count} * channels * height;
  std::vector<std::uint8_t> expected(bytes);
  resize_rows_plain(view, weights, expected.data());
  PassScratch scratch;
  scratch.byte_products = scratch.byte_products && byte_products;
  std::vector<std::uint8_t> made(bytes + 1, kUnwritten);
  resize_rows(view, weights, scratch, made.data());
  ASSERT_EQ(made.back(), kUnwritten);
  made.pop_back();
  ASSERT_EQ(made, expected) << axis.in << " to " << axis.out;
}

void compare_columns(const Axis& axis, Filter filter, std::size_t row_bytes, bool byte_products) {
  Weights weights;
  compute_weights(filter, axis, weights);
  const std::size_t rows = source_range(filter, axis).count;
  const std::size_t stride = row_bytes + row_bytes % 3;
  const std::vector<std::uint8_t> source = noise(stride * (rows - 1) + row_bytes);
  std::vector<std::uint8_t> expected(row_bytes * axis.count);
  resize_columns_plain(source.data(), stride, row_bytes, weights, expected.data());
  PassScratch scratch;
  scratch.byte_products = scratch.byte_products && byte_products;
  std::vector<std::uint8_t> made(expected.size() + 1, kUnwritten);
  resize_columns(source.data(), stride, row_bytes, weights, scratch, made.data());
  ASSERT_EQ(made.back(), kUnwritten);
  made.pop_back();
  ASSERT_EQ(made, expected) << axis.in << " to " << axis.out << ", " << row_bytes << " bytes";
}

// A kind of vector instructions, and whether the passes may multiply bytes.
using Kind = std::pair<std::int64_t, bool>;

class EachKind : public testing::TestWithParam<Kind> {
 protected:
  bool byte_products() const { return GetParam().second; }

 private:
  const ChosenTarget target_{GetParam().first};
};

std::vector<Kind> kinds() {
  std::vector<Kind> found;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    found.emplace_back(target, false);
  }
  if (uses_byte_products()) found.emplace_back(found.front().first, true);
  return found;
}

TEST_P(EachKind, ResizesRowsAsThePlainLoop) {
  std::uint32_t height = 0;
  for (const Axis& axis : axes()) {
    height = height % 9 + 1;
    for (const std::uint32_t channels : {1U, 3U}) {
      for (const Filter filter : {Filter::kBilinear, Filter::kBicubic}) {
        ASSERT_NO_FATAL_FAILURE(compare_rows(axis, filter, channels, height, byte_products()));
      }
    }
  }
}

TEST_P(EachKind, ResizesColumnsAsThePlainLoop) {
  std::size_t row_bytes = 0;
  for (const Axis& axis : axes()) {
    row_bytes = (row_bytes + 7) % 211 + 1;
    for (const Filter filter : {Filter::kBilinear, Filter::kBicubic}) {
      ASSERT_NO_FATAL_FAILURE(compare_columns(axis, filter, row_bytes, byte_products()));
    }
  }
}

// Vectors add in another order than the plain loop; with this many taps the sums wrap around.
TEST_P(EachKind, SumsOfManyTapsAreEqual) {
  for (const std::uint32_t in : {5000U, 40000U}) {
    ASSERT_NO_FATAL_FAILURE(
        compare_rows(whole_axis(in, 3), Filter::kBicubic, 3, 2, byte_products()));
    ASSERT_NO_FATAL_FAILURE(
        compare_columns(whole_axis(in, 3), Filter::kBicubic, 64, byte_products()));
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, EachKind, testing::ValuesIn(kinds()), [](const auto& kind) {
  return std::string(hwy::TargetName(kind.param.first)) + (kind.param.second ? "_bytes" : "");
});

}  // namespace
}  // namespace echoline::augment
