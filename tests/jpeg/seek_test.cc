// Decoders that begin at seek points: where these come from, and what wrong ones can do.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "decode/made_images.h"
#include "jpeg/decoder.h"
#include "jpeg/reduced_decoder.h"

namespace echoline::jpeg {
namespace {

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

constexpr std::uint32_t kHeight = 150;
constexpr std::uint32_t kWidth = 130;

const decode::JpegStyle kStyles[] = {{},
                                     {.wide = 1, .high = 1, .quality = 97},
                                     {.wide = 1, .high = 2},
                                     {.wide = 2, .high = 1, .restart_rows = 2},
                                     {.channels = 1},
                                     {.restart_mcus = 5}};

std::vector<SeekPoint> points_of(const std::string& file) {
  Header header;
  EXPECT_TRUE(read_header(bytes_of(file), header));
  Scan scan;
  EXPECT_TRUE(scan.begin(header, bytes_of(file)));
  Scan::Place place = scan.front();
  std::vector<SeekPoint> points(geometry_of(header).mcu_rows);
  for (SeekPoint& point : points) {
    EXPECT_TRUE(scan.point(place, point));
    EXPECT_TRUE(scan.skip(place, geometry_of(header).mcu_columns));
  }
  return points;
}

// False: the decoder has given the file up. The pixels are then undefined.
bool decode_window(Decoder& decoder, const std::string& file, const Window& window,
                   SeekPoints points, std::vector<std::uint8_t>& pixels) {
  const bool opened = decoder.open(bytes_of(file));
  EXPECT_TRUE(opened);
  pixels.assign(std::size_t{window.height} * window.width * 3, 0);
  if (!opened || !decoder.start(window, true, points)) return false;
  for (std::uint32_t y = 0; y < window.height; ++y) {
    if (!decoder.read_row(pixels.data() + std::size_t{y} * window.width * 3)) return false;
  }
  return decoder.finish();
}

class Windows {
 public:
  Window next() {
    Window window{0, 0, 1 + random() % kHeight, 1 + random() % kWidth};
    window.top = random() % (kHeight - window.height + 1);
    window.left = random() % (kWidth - window.width + 1);
    return window;
  }
  std::uint32_t random() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_{5};
};

TEST(SeekPoints, AreThoseOfTheWholeScanForEveryWindow) {
  Windows windows;
  Decoder decoder;
  for (const decode::JpegStyle& style : kStyles) {
    const std::string file = decode::made_jpeg(kHeight, kWidth, style);
    const std::vector<SeekPoint> expected = points_of(file);
    for (int i = 0; i < 30; ++i) {
      const Window window = windows.next();
      std::vector<std::uint8_t> pixels;
      std::vector<std::uint8_t> again;
      ASSERT_TRUE(decode_window(decoder, file, window, {}, pixels));
      const SeekPoints found = decoder.points();
      ASSERT_EQ(std::vector<SeekPoint>(found.begin(), found.end()), expected);
      ASSERT_TRUE(decode_window(decoder, file, window, expected, again));
      ASSERT_EQ(again, pixels);
      ASSERT_TRUE(decoder.points().empty());
    }
  }
}

TEST(SeekPoints, GiveTheSameReducedPixels) {
  Windows windows;
  ReducedDecoder decoder;
  for (const decode::JpegStyle& style : kStyles) {
    const std::string file = decode::made_jpeg(kHeight, kWidth, style);
    const std::vector<SeekPoint> expected = points_of(file);
    Header header;
    ASSERT_TRUE(read_header(bytes_of(file), header));
    if (!ReducedDecoder::takes(header)) continue;
    for (int i = 0; i < 30; ++i) {
      const std::uint32_t by = 2U << i % 3;
      Window window = windows.next();
      window = {window.top / by, window.left / by, divide_up(window.height, by),
                divide_up(window.width, by)};
      std::array<std::vector<std::uint8_t>, 2> pixels;
      for (std::size_t used = 0; used < 2; ++used) {
        const SeekPoints points = used == 0 ? SeekPoints() : SeekPoints(expected);
        ASSERT_TRUE(decoder.start(header, bytes_of(file), window, by, true, points));
        pixels[used].resize(std::size_t{window.height} * window.width * 3);
        for (std::uint32_t y = 0; y < window.height; ++y) {
          ASSERT_TRUE(decoder.read_row(pixels[used].data() + std::size_t{y} * window.width * 3));
        }
        ASSERT_TRUE(decoder.finish());
        EXPECT_TRUE(used == 1 || std::ranges::equal(decoder.points(), expected));
      }
      ASSERT_EQ(pixels[0], pixels[1]);
    }
  }
}

TEST(SeekPoints, OfAFileThatIsGivenUpAreNotThere) {
  Decoder decoder;
  const std::string file = decode::made_jpeg(kHeight, kWidth);
  std::vector<std::uint8_t> pixels;
  ASSERT_TRUE(decode_window(decoder, file, {0, 0, 9, 9}, {}, pixels));
  ASSERT_FALSE(decoder.points().empty());
  // Above the damage.
  const std::string cut = file.substr(0, file.size() - 20) + "\xFF\xD9";
  EXPECT_FALSE(decode_window(decoder, cut, {0, 0, 9, 9}, {}, pixels));
}

// With sanitizers: nothing is read or written beyond its bounds.
TEST(SeekPoints, ThatAreWrongDoNoHarm) {
  Windows windows;
  Decoder decoder;
  int given_up = 0;
  for (const decode::JpegStyle& style : kStyles) {
    const std::string file = decode::made_jpeg(kHeight, kWidth, style);
    const std::vector<SeekPoint> good = points_of(file);
    for (int i = 0; i < 300; ++i) {
      std::vector<SeekPoint> points = good;
      for (std::uint32_t changes = 1 + windows.random() % 4; changes > 0; --changes) {
        SeekPoint& point = points[windows.random() % points.size()];
        const std::uint32_t value = windows.random();
        if (value % 3 == 0) point.dc[value / 3 % 3] = static_cast<std::int16_t>(value >> 8);
        point.bit = value % 3 == 1 ? value : value % 3 == 2 ? value % 40'000 : point.bit ^ 1;
      }
      std::vector<std::uint8_t> pixels;
      given_up += decode_window(decoder, file, windows.next(), points, pixels) ? 0 : 1;
    }
    std::vector<std::uint8_t> pixels;
    const SeekPoints few = SeekPoints(good).first(good.size() - 1);
    EXPECT_FALSE(decode_window(decoder, file, windows.next(), few, pixels));
  }
  EXPECT_GT(given_up, 100);
}

}  // namespace
}  // namespace echoline::jpeg
