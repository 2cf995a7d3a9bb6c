// Scans: their bytes without stuffing, and MCUs that are decoded after others were skipped.
#include "jpeg/scan.h"

#include <gtest/gtest.h>

#include <memory>

#include "decode/made_images.h"

namespace echoline::jpeg {
namespace {

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string interval(const ScanBytes& bytes, std::size_t number) {
  return {bytes.begin(number), bytes.end(number)};
}

TEST(ScanBytes, LoseStuffingAndRestartMarkers) {
  using std::string_literals::operator""s;
  ScanBytes bytes;
  const std::string file =
      "xxab\xFF\0c\xFF\xD0"
      "de\xFF\0\xFF\0\xFF\xD1\xFF\xD9"s;
  ASSERT_TRUE(bytes.load(bytes_of(file), 2, true));
  ASSERT_EQ(bytes.interval_count(), 3U);
  EXPECT_EQ(interval(bytes, 0),
            "ab\xFF"
            "c");
  EXPECT_EQ(interval(bytes, 1), "de\xFF\xFF");
  EXPECT_EQ(interval(bytes, 2), "");
}

TEST(ScanBytes, EndAtAMarkerThatIsNotExpected) {
  using std::string_literals::operator""s;
  ScanBytes bytes;
  ASSERT_TRUE(bytes.load(bytes_of("ab\xFF\xD1"
                                  "cd\xFF\xD9"s),
                         0, true));
  EXPECT_EQ(bytes.interval_count(), 1U);
  ASSERT_TRUE(bytes.load(bytes_of("ab\xFF\xD0"
                                  "cd\xFF\xD9"s),
                         0, false));
  EXPECT_EQ(bytes.interval_count(), 1U);
  EXPECT_FALSE(bytes.load(bytes_of("abcd"s), 0, true));
  EXPECT_FALSE(bytes.load(bytes_of("abcd\xFF"s), 0, true));
  EXPECT_FALSE(bytes.load(bytes_of("ab\xFF\xFF\xD9"s), 0, true));
  EXPECT_FALSE(bytes.load(bytes_of("ab\xFF\xD9"s), 4, true));
}

using Coefficients = std::vector<std::int16_t>;

// Those of the next `count` MCUs; empty after an anomaly.
Coefficients decode(Scan& scan, std::uint32_t count) {
  const auto batch = std::make_unique<Batch>();
  Coefficients all;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!scan.decode(1, *batch)) return {};
    for (std::size_t b = 0; b < scan.plan().count; ++b) {
      const std::int16_t* block = batch->block(scan.plan().blocks[b].first);
      all.insert(all.end(), block, block + kBlockSamples);
    }
  }
  return all;
}

TEST(Scan, SkippedMcusLeaveTheOnesAfterThemAsTheyAre) {
  using decode::JpegStyle;
  for (const JpegStyle& style :
       {JpegStyle{}, JpegStyle{.wide = 1, .high = 1, .quality = 97}, JpegStyle{.channels = 1},
        JpegStyle{.restart_rows = 1}, JpegStyle{.restart_mcus = 5}}) {
    const std::string file = decode::made_jpeg(150, 130, style);
    Header header;
    ASSERT_TRUE(read_header(bytes_of(file), header));
    const Geometry geometry = geometry_of(header);
    Scan whole;
    ASSERT_TRUE(whole.begin(header, bytes_of(file)));
    Scan part;
    for (std::uint32_t row = 0; row < geometry.mcu_rows; ++row) {
      const Coefficients expected = decode(whole, geometry.mcu_columns);
      ASSERT_FALSE(expected.empty());
      ASSERT_TRUE(part.begin(header, bytes_of(file)));
      ASSERT_TRUE(part.skip(std::uint64_t{row} * geometry.mcu_columns));
      EXPECT_EQ(decode(part, geometry.mcu_columns), expected) << row;
      EXPECT_TRUE(part.skip_rest());
    }
    EXPECT_FALSE(whole.skip(1));
  }
}

}  // namespace
}  // namespace echoline::jpeg
