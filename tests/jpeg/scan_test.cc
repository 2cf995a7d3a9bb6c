// Scans: their bytes without stuffing, and decoding from any MCU row on.
#include "jpeg/scan.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

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
      "xxab\xFF\0c\xFF\xD7"
      "de\xFF\0\xFF\0\xFF\xD0\xFF\xD9"s;
  ASSERT_TRUE(bytes.load(bytes_of(file), 2, 7));
  ASSERT_EQ(bytes.interval_count(), 3U);
  EXPECT_EQ(interval(bytes, 0),
            "ab\xFF"
            "c");
  EXPECT_EQ(interval(bytes, 1), "de\xFF\xFF");
  EXPECT_EQ(interval(bytes, 2), "");
  const std::pair<std::size_t, std::size_t> places[] = {{0, 2}, {2, 4},  {3, 6},
                                                        {4, 9}, {6, 11}, {7, 13}};
  for (const auto& [at, in_file] : places) {
    EXPECT_EQ(bytes.position_of(bytes.begin(0) + at, 3), (BitPosition{in_file, 3})) << at;
  }
}

TEST(ScanBytes, EndAtAMarkerThatIsNotExpected) {
  using std::string_literals::operator""s;
  ScanBytes bytes;
  ASSERT_TRUE(bytes.load(bytes_of("ab\xFF\xD1"
                                  "cd\xFF\xD9"s),
                         0, 0));
  EXPECT_EQ(bytes.interval_count(), 1U);
  ASSERT_TRUE(bytes.load(bytes_of("ab\xFF\xD0"
                                  "cd\xFF\xD9"s),
                         0, ScanBytes::kNoRestarts));
  EXPECT_EQ(bytes.interval_count(), 1U);
  EXPECT_FALSE(bytes.load(bytes_of("abcd"s), 0, 0));
  EXPECT_FALSE(bytes.load(bytes_of("abcd\xFF"s), 0, 0));
  EXPECT_FALSE(bytes.load(bytes_of("ab\xFF\xFF\xD9"s), 0, 0));
  EXPECT_FALSE(bytes.load(bytes_of("ab\xFF\xD9"s), 4, 0));
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

TEST(Scan, BeginsAtTheRowOfAPoint) {
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
    std::vector<ScanPoint> points(geometry.mcu_rows);
    std::vector<Coefficients> rows;
    for (ScanPoint& point : points) {
      ASSERT_TRUE(whole.point(point));
      rows.push_back(decode(whole, geometry.mcu_columns));
      ASSERT_FALSE(rows.back().empty());
    }
    EXPECT_FALSE(whole.skip(1));
    Scan part;
    for (std::uint32_t row = geometry.mcu_rows; row-- > 0;) {
      ASSERT_TRUE(part.begin_at(header, bytes_of(file), row, points[row]));
      EXPECT_EQ(decode(part, geometry.mcu_columns), rows[row]) << row;
      EXPECT_TRUE(part.skip_rest());
    }
  }
}

TEST(Scan, AWrongPointDoesNoHarm) {
  const std::string file = decode::made_jpeg(90, 70, decode::JpegStyle{.restart_mcus = 7});
  Header header;
  ASSERT_TRUE(read_header(bytes_of(file), header));
  std::mt19937 random(5);
  Scan scan;
  for (int i = 0; i < 2000; ++i) {
    ScanPoint point;
    point.position = {random() % (file.size() + 20), static_cast<std::uint8_t>(random() % 9)};
    point.dc = {static_cast<std::int32_t>(random()), static_cast<std::int32_t>(random() % 999), 0};
    if (i % 4 != 0) point.dc[0] %= 2048;
    if (scan.begin_at(header, bytes_of(file), static_cast<std::uint32_t>(random() % 8), point)) {
      scan.skip_rest();
    }
  }
}

}  // namespace
}  // namespace echoline::jpeg
