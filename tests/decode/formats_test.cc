// WebP and AVIF: their pixels, and files that are truncated, damaged, too large or animated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <webp/decode.h>

#include "decode/decode_one.h"
#include "decode/image_decoder.h"
#include "decode/random_regions.h"

namespace echoline::decode {
namespace {

using ::testing::HasSubstr;

constexpr char kRgb[] = "key: 'jpg' as: 'rgb'";

struct Made {
  const char* name;
  std::string file;
};

std::vector<Made> made_files(std::uint32_t height, std::uint32_t width) {
  return {{"WebP", made_webp(height, width)},
          {"lossless WebP", made_webp(height, width, true)},
          {"AVIF", made_avif(height, width)},
          {"lossless AVIF", made_avif(height, width, true)}};
}

std::string text_of(const std::vector<std::uint8_t>& pixels) {
  return {pixels.begin(), pixels.end()};
}

TEST(Formats, LosslessFilesHaveThePixelsThatTheyWereMadeOf) {
  OneField image(kRgb);
  for (const auto& [height, width] : {std::pair(1U, 1U), {37U, 53U}, {64U, 16U}}) {
    for (const std::string& file :
         {made_webp(height, width, true), made_avif(height, width, true)}) {
      ASSERT_TRUE(image.decode(file, "jpg").ok());
      EXPECT_EQ(image.tensor().shape, (Shape{{height, width, 3}, 3}));
      EXPECT_EQ(image.bytes(), text_of(made_pixels(height, width, 3)));
    }
  }
}

TEST(Formats, LossyFilesAreNearTheirPixels) {
  OneField image(kRgb);
  const std::vector<std::uint8_t> pixels = made_pixels(80, 112, 3);
  for (const std::string& file : {made_webp(80, 112), made_avif(80, 112)}) {
    ASSERT_TRUE(image.decode(file, "jpg").ok());
    double sum = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      sum += std::abs(pixels[i] - static_cast<unsigned char>(image.bytes()[i]));
    }
    EXPECT_LT(sum / static_cast<double>(pixels.size()), 8);
    EXPECT_GT(sum, 0);
  }
}

TEST(Formats, LossyWebpIsThatOfLibwebp) {
  OneField image(kRgb);
  const std::string file = made_webp(61, 83);
  int width = 0;
  int height = 0;
  std::uint8_t* expected = WebPDecodeRGB(reinterpret_cast<const std::uint8_t*>(file.data()),
                                         file.size(), &width, &height);
  ASSERT_NE(expected, nullptr);
  ASSERT_TRUE(image.decode(file, "jpg").ok());
  EXPECT_EQ(image.bytes(), std::string(expected, expected + 61 * 83 * 3));
  WebPFree(expected);
}

TEST(Formats, ARegionHasThePixelsOfTheWhole) {
  ImageDecoder decoder;
  RandomRegions random;
  for (const Made& made : made_files(45, 67)) {
    for (const Colors colors : {Colors::kRgb, Colors::kGray}) {
      const std::size_t channels = channel_count(colors);
      std::vector<std::uint8_t> whole(45 * 67 * channels);
      ASSERT_TRUE(decoder.open(bytes_of(made.file), true).ok());
      ASSERT_TRUE(decoder.read({0, 0, 45, 67}, colors, whole.data()).ok());
      for (int i = 0; i < 10; ++i) {
        const Region region = random.of({45, 67});
        std::vector<std::uint8_t> part(region.height * region.width * channels);
        ASSERT_TRUE(decoder.open(bytes_of(made.file), true).ok());
        EXPECT_EQ(decoder.reduce(2).by, 1U);
        ASSERT_TRUE(decoder.read(region, colors, part.data()).ok());
        for (std::uint32_t y = 0; y < region.height; ++y) {
          const auto* expected = whole.data() + ((region.top + y) * 67 + region.left) * channels;
          ASSERT_EQ(std::memcmp(part.data() + y * region.width * channels, expected,
                                region.width * channels),
                    0)
              << made.name;
        }
      }
    }
  }
}

TEST(Formats, EveryTruncationIsAnErrorAndTheNextPictureIsComplete) {
  OneField image(kRgb);
  for (const Made& made : made_files(30, 41)) {
    ASSERT_TRUE(image.decode(made.file, "jpg").ok());
    const std::string pixels = image.bytes();
    for (std::size_t length = 0; length < made.file.size(); ++length) {
      const Status status = image.decode(made.file.substr(0, length), "jpg");
      ASSERT_EQ(status.code(), Code::kDataLoss) << made.name << ' ' << length;
    }
    ASSERT_TRUE(image.decode(made.file, "jpg").ok());
    EXPECT_EQ(image.bytes(), pixels);
  }
}

TEST(Formats, NoFlippedByteDoesHarm) {
  OneField image(kRgb);
  for (const Made& made : made_files(13, 18)) {
    int refused = 0;
    for (std::size_t at = 0; at < made.file.size(); at += 2) {
      std::string broken = made.file;
      broken[at] = static_cast<char>(broken[at] ^ 0x55);
      refused += image.decode(broken, "jpg").ok() ? 0 : 1;
    }
    EXPECT_GT(refused, 0) << made.name;
    EXPECT_TRUE(image.decode(made.file, "jpg").ok());
  }
}

TEST(Formats, MorePixelsThanAllowedAreRefusedBeforeDecoding) {
  ImageDecoder decoder(ImageLimits{.pixels_max = 2000});
  for (const Made& made : made_files(50, 60)) {
    const auto opened = decoder.open(bytes_of(made.file), false);
    EXPECT_EQ(opened.status().code(), Code::kResourceExhausted) << made.name;
    EXPECT_THAT(opened.status().message(), HasSubstr("60 x 50 pixels are more than the 2000"));
  }
}

TEST(Formats, AnAvifSequenceIsRefused) {
  OneField image(kRgb);
  const Status status = image.decode(made_avif(20, 30, false, 3), "jpg");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("sequence"));
}

// The size in the container, `ispe`, is 8 x 8 then; that of the AV1 frame is above the limit.
TEST(Formats, AnAvifFrameLargerThanItsHeaderIsRefused) {
  std::string file = made_avif(50, 60);
  const std::size_t at = file.find("ispe") + 8;
  for (const std::size_t side : {at, at + 4}) file.replace(side, 4, std::string("\0\0\0\x08", 4));
  ImageDecoder decoder(ImageLimits{.pixels_max = 2000});
  ASSERT_TRUE(decoder.open(bytes_of(file), false).ok());
  std::vector<std::uint8_t> pixels(8 * 8 * 3);
  const Status status = decoder.read({0, 0, 8, 8}, Colors::kRgb, pixels.data());
  EXPECT_EQ(status.code(), Code::kDataLoss) << status.message();
}

TEST(Formats, PicturesAreCountedByFormat) {
  ImageCounts counts;
  const ImageShared shared(&counts);
  ImageDecoder decoder({}, &shared);
  std::vector<std::uint8_t> pixels(9 * 9 * 3);
  for (const std::string& file :
       {made_png(9, 9), made_webp(9, 9), made_webp(9, 9, true), made_avif(9, 9), made_jpeg(9, 9)}) {
    ASSERT_TRUE(decoder.open(bytes_of(file), false).ok());
    ASSERT_TRUE(decoder.read({0, 0, 9, 9}, Colors::kRgb, pixels.data()).ok());
  }
  EXPECT_EQ(counts.png, 1U);
  EXPECT_EQ(counts.webp, 2U);
  EXPECT_EQ(counts.avif, 1U);
  EXPECT_EQ(counts.jpeg.own + counts.jpeg.libjpeg, 1U);
}

}  // namespace
}  // namespace echoline::decode
