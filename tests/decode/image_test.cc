// Pictures that are truncated, corrupt, too large or of another size, and the reader's state
// afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decode/decode_one.h"
#include "decode/exif.h"
#include "decode/image_decoder.h"

namespace echoline::decode {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kRgb[] = "key: 'jpg;png' as: 'rgb'";

TEST(Image, EveryTruncationIsAnErrorAndTheNextPictureIsComplete) {
  for (const bool progressive : {false, true}) {
    const std::string whole = made_jpeg(40, 56, progressive);
    OneField image(kRgb);
    ASSERT_TRUE(image.decode(whole, "jpg").ok());
    const std::string pixels = image.bytes();
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const Status status = image.decode(whole.substr(0, length), "jpg");
      ASSERT_EQ(status.code(), Code::kDataLoss) << length << ": " << status.message();
    }
    ASSERT_TRUE(image.decode(whole, "jpg").ok());
    EXPECT_EQ(image.bytes(), pixels);
  }
}

TEST(Image, EveryTruncationOfAPngExceptItsEndMarkIsAnError) {
  const std::string whole = made_png(30, 21);
  OneField image(kRgb);
  ASSERT_TRUE(image.decode(whole, "png").ok());
  const std::string pixels = image.bytes();
  constexpr std::size_t kAfterData = 12 + 12;  // IEND and the checksum of the last data chunk
  for (std::size_t length = 0; length + kAfterData < whole.size(); ++length) {
    const Status status = image.decode(whole.substr(0, length), "png");
    ASSERT_EQ(status.code(), Code::kDataLoss) << length << ": " << status.message();
  }
  ASSERT_TRUE(image.decode(whole, "png").ok());
  EXPECT_EQ(image.bytes(), pixels);
}

TEST(Image, NoFlippedByteDoesHarm) {
  for (const std::string& whole : {made_jpeg(33, 47), made_jpeg(33, 47, true), made_png(33, 47)}) {
    OneField image(kRgb);
    int refused = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string broken = whole;
      broken[at] = static_cast<char>(broken[at] ^ 0x55);
      refused += image.decode(broken, "jpg").ok() ? 0 : 1;
    }
    EXPECT_GT(refused, 0);
    EXPECT_TRUE(image.decode(whole, "jpg").ok());
  }
}

TEST(Image, AHeaderOf65000By65000IsRefusedBeforeAllocation) {
  OneField image(kRgb);
  const Status status = image.decode(with_size(made_jpeg(64, 64), 65000, 65000), "jpg");
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("value"), HasSubstr("65000 x 65000")));
  EXPECT_EQ(image.tensor().bytes.capacity(), 0U);
}

TEST(Image, AHeaderThatClaimsMoreThanTheFileCanHoldIsRefused) {
  OneField image(kRgb);
  const Status status = image.decode(with_size(made_jpeg(64, 64), 9000, 9000), "jpg");
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("cannot hold the 9000 x 9000 pixels"));
  EXPECT_EQ(image.tensor().bytes.capacity(), 0U);
}

TEST(Image, AFileOfEndlessScansIsRefused) {
  OneField image(kRgb);
  const std::string jpeg = made_jpeg(64, 64, true);
  EXPECT_TRUE(image.decode(with_more_scans(jpeg, 5), "jpg").ok());
  const Status status = image.decode(with_more_scans(jpeg, 200), "jpg");
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("more than 100 scans"));
}

TEST(Image, AFileWithoutTablesIsNotDecodedWithThoseOfTheFileBefore) {
  constexpr std::uint8_t kQuantization = 0xDB;
  constexpr std::uint8_t kHuffman = 0xC4;
  const std::string whole = made_jpeg(40, 56);
  OneField image(kRgb);
  ASSERT_TRUE(image.decode(whole, "jpg").ok());
  const std::string pixels = image.bytes();
  // A progressive file has Huffman tables of its own; without any, the standard's are used.
  ASSERT_TRUE(image.decode(made_jpeg(40, 56, true), "jpg").ok());
  ASSERT_TRUE(image.decode(without_segments(whole, kHuffman), "jpg").ok());
  EXPECT_EQ(image.bytes(), pixels);
  ASSERT_TRUE(image.decode(whole, "jpg").ok());
  EXPECT_THAT(image.decode(without_segments(whole, kQuantization), "jpg").message(),
              HasSubstr("Quantization table"));
}

TEST(Image, AnEmptyFileAndAnUnknownFormatAreNamed) {
  OneField image(kRgb);
  EXPECT_THAT(image.decode("", "jpg").message(), HasSubstr("empty"));
  const Status gif = image.decode("GIF89a........", "jpg");
  EXPECT_EQ(gif.code(), Code::kInvalidArgument);
  EXPECT_THAT(gif.message(), HasSubstr("GIF"));
  const Status zeros = image.decode(std::string(100, '\0'), "jpg");
  EXPECT_EQ(zeros.code(), Code::kDataLoss);
  EXPECT_THAT(zeros.message(), HasSubstr("none of JPEG, PNG, WebP and AVIF"));
}

TEST(Image, AnExifChunkThatClaimsMoreThanTheFileIsRefused) {
  constexpr std::size_t kAfterHeader = 33;
  const std::string png = made_png(8, 8);
  const std::string claim("\x60\0\0\0eXIfII*\0\x08\0\0\0", 16);
  const std::string broken = png.substr(0, kAfterHeader) + claim + png.substr(kAfterHeader);
  EXPECT_TRUE(exif_of_png(bytes_of(broken)).empty());
  OneField image("key: 'png' as: 'rgb' exif: true");
  EXPECT_EQ(image.decode(broken, "png").code(), Code::kDataLoss);
  EXPECT_TRUE(image.decode(png, "png").ok());
}

TEST(Image, AConfiguredSizeIsChecked) {
  OneField image("key: 'jpg' as: 'gray' shape: [20, 30]");
  EXPECT_TRUE(image.type().fixed);
  EXPECT_EQ(image.type().shape, (Shape{{20, 30, 1}, 3}));
  EXPECT_TRUE(image.decode(made_jpeg(20, 30), "jpg").ok());
  const Status status = image.decode(made_jpeg(30, 20), "jpg");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("30 high and 20 wide"));
}

TEST(Image, ARegionEqualsThatPartOfTheWholePicture) {
  const std::string jpeg = made_jpeg(37, 53);
  for (const std::string& file : {jpeg, made_jpeg(37, 53, true), made_png(37, 53),
                                  with_orientation(jpeg, 6), with_orientation(jpeg, 7)}) {
    ImageDecoder decoder;
    const auto size = decoder.open(bytes_of(file), true);
    ASSERT_TRUE(size.ok()) << size.status().message();
    const auto [height, width] = size.value();
    std::vector<std::uint8_t> whole(height * width * 3);
    ASSERT_TRUE(decoder.read({0, 0, height, width}, Colors::kRgb, whole.data()).ok());
    const Region region{5, 9, 20, 17};
    std::vector<std::uint8_t> part(region.height * region.width * 3);
    ASSERT_TRUE(decoder.open(bytes_of(file), true).ok());
    ASSERT_TRUE(decoder.read(region, Colors::kRgb, part.data()).ok());
    for (std::uint32_t y = 0; y < region.height; ++y) {
      const auto* expected = whole.data() + ((region.top + y) * width + region.left) * 3;
      EXPECT_EQ(std::memcmp(part.data() + y * region.width * 3, expected, region.width * 3), 0);
    }
  }
}

}  // namespace
}  // namespace echoline::decode
