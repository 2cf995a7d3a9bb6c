// Scans: their bytes without stuffing, MCUs that are decoded after others were skipped, and places
// from which a scan can begin.
#include "jpeg/scan.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

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

// Those of the first MCU of the batch.
void append(const Scan& scan, const Batch& batch, Coefficients& all) {
  for (std::size_t b = 0; b < scan.plan().count; ++b) {
    const std::int16_t* block = batch.block(scan.plan().blocks[b].first);
    all.insert(all.end(), block, block + kBlockSamples);
  }
}

// Those of the next `count` MCUs; empty after an anomaly.
Coefficients decode(const Scan& scan, Scan::Place& place, std::uint32_t count) {
  const auto batch = std::make_unique<Batch>();
  Coefficients all;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!scan.decode(place, 1, *batch)) return {};
    append(scan, *batch, all);
  }
  return all;
}

const decode::JpegStyle kStyles[] = {{},
                                     {.wide = 1, .high = 1, .quality = 97},
                                     {.wide = 1, .high = 2},
                                     {.channels = 1},
                                     {.restart_rows = 1},
                                     {.restart_mcus = 5}};

// A scan, its points and the coefficients of its MCU rows, from one walk over all of it.
struct Walked {
  explicit Walked(const decode::JpegStyle& style) : file(decode::made_jpeg(150, 130, style)) {
    EXPECT_TRUE(read_header(bytes_of(file), header));
    columns = geometry_of(header).mcu_columns;
    EXPECT_TRUE(scan.begin(header, bytes_of(file)));
    Scan::Place place = scan.front();
    points.resize(geometry_of(header).mcu_rows);
    for (SeekPoint& point : points) {
      EXPECT_TRUE(scan.point(place, point));
      rows.push_back(decode(scan, place, columns));
      EXPECT_FALSE(rows.back().empty());
    }
    EXPECT_FALSE(scan.skip(place, 1));
  }

  std::string file;
  Header header;
  std::uint32_t columns = 0;
  Scan scan;
  std::vector<SeekPoint> points;
  std::vector<Coefficients> rows;
};

TEST(Scan, SkippedMcusLeaveTheOnesAfterThemAsTheyAre) {
  for (const decode::JpegStyle& style : kStyles) {
    const Walked whole(style);
    for (std::uint32_t row = 0; row < whole.rows.size(); ++row) {
      Scan::Place place = whole.scan.front();
      ASSERT_TRUE(whole.scan.skip(place, std::uint64_t{row} * whole.columns));
      SeekPoint point;
      ASSERT_TRUE(whole.scan.point(place, point));
      EXPECT_EQ(point, whole.points[row]) << row;
      EXPECT_EQ(decode(whole.scan, place, whole.columns), whole.rows[row]) << row;
    }
  }
}

TEST(Scan, BeginsAtTheFirstMcuOfAnyRow) {
  for (const decode::JpegStyle& style : kStyles) {
    const Walked whole(style);
    Scan part;
    for (std::uint32_t row = 0; row < whole.rows.size(); ++row) {
      // Without the bytes of the rows after it.
      ASSERT_TRUE(part.begin(whole.header, bytes_of(whole.file), whole.points, row + 1));
      Scan::Place place;
      ASSERT_TRUE(part.seek(row, whole.points[row], place));
      EXPECT_EQ(decode(part, place, whole.columns), whole.rows[row]) << row;
    }
  }
}

TEST(Scan, TwoPlacesAtOnceGiveTheCoefficientsOfEach) {
  for (const decode::JpegStyle& style : kStyles) {
    const Walked whole(style);
    const auto batches = std::make_unique<std::array<Batch, 2>>();
    for (std::uint32_t row = 0; row + 1 < whole.rows.size(); ++row) {
      std::array<Scan::Place, 2> places;
      std::array<Coefficients, 2> found;
      for (std::uint32_t i = 0; i < 2; ++i) {
        ASSERT_TRUE(whole.scan.seek(row + i, whole.points[row + i], places[i]));
      }
      for (std::uint32_t mcu = 0; mcu < whole.columns; ++mcu) {
        ASSERT_TRUE(whole.scan.decode(places, 1, *batches));
        for (std::size_t i = 0; i < 2; ++i) append(whole.scan, (*batches)[i], found[i]);
      }
      EXPECT_EQ(found[0], whole.rows[row]) << row;
      EXPECT_EQ(found[1], whole.rows[row + 1]) << row;
    }
  }
}

}  // namespace
}  // namespace echoline::jpeg
