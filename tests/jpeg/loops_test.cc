// The loops that are compiled once for each kind of CPU: every variant gives the same bytes.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

#include "decode/each_target.h"
#include "decode/made_images.h"
#include "jpeg/color_conversion.h"
#include "jpeg/color_conversion_plain.h"
#include "jpeg/idct.h"
#include "jpeg/idct_plain.h"
#include "jpeg/planes.h"
#include "jpeg/scan.h"
#include "jpeg/upsampling.h"
#include "jpeg/upsampling_plain.h"

namespace echoline::jpeg {
namespace {

constexpr std::uint8_t kUnwritten = 0xA5;

class Loops : public EachTarget {
 protected:
  int between(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }
  std::vector<std::uint8_t> noise(std::size_t bytes) {
    std::vector<std::uint8_t> made(bytes);
    for (std::uint8_t& byte : made) byte = static_cast<std::uint8_t>(random_());
    return made;
  }

 private:
  std::mt19937 random_{3};
};

// From blocks as photos have them to values that overflow everywhere.
TEST_P(Loops, TransformsBlocksAsThePlainLoop) {
  constexpr std::size_t kBlocks = 5;
  constexpr std::size_t kStride = 8 * kBlocks;
  for (int round = 0; round < 600; ++round) {
    const int range = round % 3 == 0 ? 40 : round % 3 == 1 ? 1023 : 32767;
    const int last = between(0, 63);
    Steps steps;
    for (std::int16_t& step : steps) step = static_cast<std::int16_t>(between(0, 255));
    std::vector<std::int16_t> values(kBlocks * kBlockSamples);
    std::vector<std::uint8_t> made(8 * kStride, kUnwritten);
    std::vector<std::uint8_t> expected(8 * kStride, kUnwritten);
    BlockTask tasks[kBlocks];
    for (std::size_t b = 0; b < kBlocks; ++b) {
      std::int16_t* block = values.data() + b * kBlockSamples;
      for (int i = 0; i <= last; ++i) block[i] = static_cast<std::int16_t>(between(-range, range));
      tasks[b] = {block, made.data() + 8 * b};
      idct_block_plain(block, steps.data(), expected.data() + 8 * b, kStride);
    }
    (last == 0 ? fill_blocks : idct_blocks)(tasks, kBlocks, steps, kStride);
    ASSERT_EQ(made, expected) << "range " << range << ", last " << last;
    idct_blocks(tasks, kBlocks, steps, kStride);
    ASSERT_EQ(made, expected) << "range " << range << ", last " << last;
  }
}

TEST_P(Loops, UpsamplesAsThePlainLoop) {
  for (std::size_t count = 1; count < 90; ++count) {
    const std::vector<std::uint8_t> near = noise(count + 2 + kRowPadding);
    const std::vector<std::uint8_t> far = noise(count + 2 + kRowPadding);
    std::vector<std::uint8_t> made(2 * count + 2 * kRowPadding);
    std::vector<std::uint8_t> expected(2 * count);
    const auto compare = [&](std::size_t bytes) {
      return std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(bytes),
                        made.begin());
    };
    upsample_columns(near.data() + 1, count, made.data());
    upsample_columns_plain(near.data() + 1, count, expected.data());
    ASSERT_TRUE(compare(2 * count)) << count;
    upsample_both(near.data() + 1, far.data() + 1, count, made.data());
    upsample_both_plain(near.data() + 1, far.data() + 1, count, expected.data());
    ASSERT_TRUE(compare(2 * count)) << count;
    upsample_rows(near.data(), far.data(), count % 2 == 0, count, made.data());
    upsample_rows_plain(near.data(), far.data(), count % 2 == 0, count, expected.data());
    ASSERT_TRUE(compare(count)) << count;
  }
}

TEST_P(Loops, ConvertsColorsAsThePlainLoop) {
  constexpr std::size_t kValues = 256;
  std::vector<std::uint8_t> cr(kValues + kRowPadding);
  for (std::size_t i = 0; i < kValues; ++i) cr[i] = static_cast<std::uint8_t>(i);
  for (std::size_t value = 0; value < kValues; value += 3) {
    const std::vector<std::uint8_t> cb(kValues + kRowPadding, static_cast<std::uint8_t>(value));
    const std::vector<std::uint8_t> y = noise(kValues + kRowPadding);
    const std::size_t count = kValues - value % 40;
    std::vector<std::uint8_t> made(3 * count + 1, kUnwritten);
    std::vector<std::uint8_t> expected(3 * count + 1, kUnwritten);
    ycbcr_to_rgb(y.data(), cb.data(), cr.data(), count, made.data());
    ycbcr_to_rgb_plain(y.data(), cb.data(), cr.data(), count, expected.data());
    ASSERT_EQ(made, expected) << value;
  }
}

TEST_P(Loops, DecodesTheSameCoefficients) {
  const std::string file = decode::made_jpeg(60, 80, decode::JpegStyle{.quality = 99});
  const Bytes bytes{reinterpret_cast<const std::uint8_t*>(file.data()), file.size()};
  Header header;
  ASSERT_TRUE(read_header(bytes, header));
  Scan scan;
  ASSERT_TRUE(scan.begin(header, bytes));
  Scan::Place place = scan.front();
  // The same place twice: both streams of bits have the same coefficients.
  std::array<Scan::Place, 2> places = {place, place};
  const auto batches = std::make_unique<std::array<Batch, 2>>();
  const auto batch = std::make_unique<Batch>();
  std::uint64_t hash = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(scan.decode(place, 2, *batch));
    ASSERT_TRUE(scan.decode(places, 2, *batches));
    for (std::size_t b = 0; b < scan.plan().count; ++b) {
      const std::size_t index = scan.plan().blocks[b].first;
      for (std::size_t k = 0; k < kBlockSamples; ++k) {
        const std::int16_t value = batch->block(index)[k];
        hash = hash * 31 + static_cast<std::uint16_t>(value);
        for (const Batch& other : *batches) ASSERT_EQ(other.block(index)[k], value);
      }
    }
  }
  static const std::uint64_t first_hash = hash;
  EXPECT_EQ(hash, first_hash);
}

INSTANTIATE_TEST_SUITE_P(Jpeg, Loops, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return hwy::TargetName(target.param); });

}  // namespace
}  // namespace echoline::jpeg
