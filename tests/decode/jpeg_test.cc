// The JPEG reader gives the pixels and the errors of libjpeg-turbo, for every region of every file,
// whichever decoder takes it, with a seek index and without.
#include "decode/jpeg.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "decode/libjpeg.h"
#include "decode/made_images.h"
#include "decode/random_regions.h"

namespace echoline::decode {
namespace {

;

struct Outcome {
  Status status;
  ImageHeader header;
  bool reduced = false;
  std::vector<std::uint8_t> pixels;
};

class Readers {
 public:
  // False after a difference, which has been reported.
  bool agree(const std::string& file, const Region* region, Colors colors) {
    const Outcome expected = read(*libjpeg_, file, region, colors);
    // The first time without an index, which is made then.
    ++shared_.file;
    return agrees(read(*reader_, file, region, colors), expected, region) &&
           agrees(read(*reader_, file, region, colors), expected, region);
  }

  bool agree_on_regions(const std::string& file, RandomRegions& random, int count) {
    if (!agree(file, nullptr, Colors::kRgb) || !agree(file, nullptr, Colors::kGray)) return false;
    const ImageSize size = libjpeg_->open(bytes_of(file), {}, false).value().size;
    for (int i = 0; i < count; ++i) {
      const Region region =
          random.of({(size.height + by_ - 1) / by_, (size.width + by_ - 1) / by_});
      if (!agree(file, &region, i % 4 == 0 ? Colors::kGray : Colors::kRgb)) return false;
    }
    return true;
  }

  Result<ImageSize> size(const std::string& file) {
    ECHOLINE_ASSIGN(const ImageHeader header, libjpeg_->open(bytes_of(file), {}, false));
    return header.size;
  }
  // What the sides are divided by. Where the reader cannot, nothing is compared.
  void reduce(std::uint32_t by) { by_ = by; }
  std::uint64_t own() const { return counts_.own; }
  std::uint64_t libjpeg() const { return counts_.libjpeg; }
  std::uint64_t hits() const { return indexes_.hits(); }

 private:
  bool agrees(const Outcome& found, const Outcome& expected, const Region* region) const {
    if (by_ != 1 && found.status.ok() && !found.reduced) return true;
    EXPECT_EQ(found.status.message(), expected.status.message());
    EXPECT_EQ(found.status.code(), expected.status.code());
    EXPECT_EQ(found.header.size, expected.header.size);
    EXPECT_EQ(found.header.orientation, expected.header.orientation);
    const bool same = !expected.status.ok() || found.pixels == expected.pixels;
    EXPECT_TRUE(same) << "other pixels of " << expected.header.size.height << " x "
                      << expected.header.size.width;
    if (region != nullptr && !same) {
      ADD_FAILURE() << region->top << ' ' << region->left << ' ' << region->height << ' '
                    << region->width;
    }
    return !testing::Test::HasFailure();
  }

  Outcome read(ImageReader& reader, const std::string& file, const Region* region,
               Colors colors) const {
    Outcome outcome;
    const auto opened = reader.open(bytes_of(file), {}, true);
    outcome.status = opened.status();
    if (!opened.ok()) return outcome;
    outcome.header = opened.value();
    ImageSize size = outcome.header.size;
    outcome.reduced = by_ != 1 && reader.reduce(by_);
    if (outcome.reduced) size = {(size.height + by_ - 1) / by_, (size.width + by_ - 1) / by_};
    Region part = whole_picture(size);
    if (region != nullptr && region->top + region->height <= size.height &&
        region->left + region->width <= size.width) {
      part = *region;
    }
    outcome.pixels.assign(std::size_t{part.height} * part.width * channel_count(colors), 0xAA);
    outcome.status = reader.read(part, colors, outcome.pixels.data());
    return outcome;
  }

  std::uint32_t by_ = 1;
  JpegCounts counts_;
  seek::Indexes indexes_{{.files = 1, .capacity_bytes = 64 << 20}};
  JpegShared shared_{.counts = &counts_, .indexes = &indexes_};
  std::unique_ptr<ImageReader> reader_ = make_jpeg_reader(&shared_);
  std::unique_ptr<ImageReader> libjpeg_ = make_libjpeg_reader();
};

const JpegStyle kOwnStyles[] = {
    {},
    {.wide = 1, .high = 1},
    {.wide = 2, .high = 1},
    {.wide = 1, .high = 2},
    {.channels = 1, .wide = 1, .high = 1},
    {.channels = 1},
    {.restart_rows = 1},
    {.wide = 2, .high = 1, .restart_rows = 2},
    {.restart_mcus = 3},
    {.wide = 1, .high = 1, .restart_mcus = 1},
    {.quality = 98},
    {.wide = 1, .high = 1, .quality = 100},
    {.quality = 10},
};

const JpegStyle kOtherStyles[] = {
    {.wide = 4, .high = 1}, {.wide = 4, .high = 2}, {.progressive = true}, {.arithmetic = true}};

TEST(Jpeg, PixelsAreThoseOfLibjpegForEverySize) {
  Readers readers;
  RandomRegions random;
  for (const JpegStyle& style : kOwnStyles) {
    for (std::uint32_t size = 1; size <= 70; ++size) {
      const std::string wide = made_jpeg(1 + random.below(70), size, style);
      const std::string high = made_jpeg(size, 1 + random.below(70), style);
      ASSERT_TRUE(readers.agree_on_regions(wide, random, 4)) << &style - kOwnStyles;
      ASSERT_TRUE(readers.agree_on_regions(high, random, 4)) << &style - kOwnStyles;
    }
    for (const auto& [height, width] : {std::pair(211U, 333U), {257U, 129U}, {90U, 601U}}) {
      const std::string file = made_jpeg(height, width, style);
      ASSERT_TRUE(readers.agree_on_regions(file, random, 20)) << &style - kOwnStyles;
    }
  }
  EXPECT_GT(readers.own(), 1000U);
  EXPECT_EQ(readers.hits(), readers.own() / 2);
  EXPECT_EQ(readers.libjpeg(), 0U);
}

// Coefficients that no encoder writes for a picture, and values that overflow in the inverse DCT.
TEST(Jpeg, PixelsFarOutOfRangeAreThoseOfLibjpeg) {
  Readers readers;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const JpegStyle style{.wide = 1, .high = 1, .quality = seed % 2 == 0 ? 100 : 60, .noise = true};
    const std::string file = with_steps(made_jpeg(64, 72, style), seed);
    ASSERT_TRUE(readers.agree(file, nullptr, Colors::kRgb)) << seed;
    const std::string smooth = with_steps(made_jpeg(64, 72, {.quality = 100}), seed);
    ASSERT_TRUE(readers.agree(smooth, nullptr, Colors::kRgb)) << seed;
  }
  EXPECT_EQ(readers.libjpeg(), 0U);
}

TEST(Jpeg, ReducedPixelsAreThoseOfLibjpegToo) {
  Readers readers;
  RandomRegions random;
  for (const std::uint32_t by : {2U, 4U, 8U}) {
    readers.reduce(by);
    for (const JpegStyle& style : kOwnStyles) {
      SCOPED_TRACE(&style - kOwnStyles);
      for (std::uint32_t size = 1; size <= 70; size += 9) {
        const std::string file = made_jpeg(1 + random.below(70), size, style);
        ASSERT_TRUE(readers.agree_on_regions(file, random, 4)) << by;
      }
      JpegStyle noise = style;
      noise.noise = true;
      ASSERT_TRUE(readers.agree_on_regions(made_jpeg(90, 601, noise), random, 20)) << by;
      const std::string cut = made_jpeg(90, 301, style);
      for (std::size_t length = 100; length < cut.size(); length += 497) {
        ASSERT_TRUE(readers.agree(cut.substr(0, length), nullptr, Colors::kRgb)) << length;
      }
    }
  }
  EXPECT_GT(readers.own(), 500U);
}

TEST(Jpeg, FilesOfOtherKindsAreLeftToLibjpeg) {
  Readers readers;
  RandomRegions random;
  for (const JpegStyle& style : kOtherStyles) {
    ASSERT_TRUE(readers.agree_on_regions(made_jpeg(70, 90, style), random, 4));
  }
  EXPECT_EQ(readers.own(), 0U);
  EXPECT_GT(readers.libjpeg(), 0U);
}

TEST(Jpeg, EveryTruncationHasTheErrorOfLibjpeg) {
  Readers readers;
  RandomRegions random;
  for (const JpegStyle& style : {kOwnStyles[0], kOwnStyles[1], kOwnStyles[4], kOwnStyles[6]}) {
    const std::string file = made_jpeg(40, 56, style);
    for (std::size_t length = 0; length < file.size(); ++length) {
      const Region region = random.of({40, 56});
      ASSERT_TRUE(readers.agree(file.substr(0, length), &region, Colors::kRgb)) << length;
    }
  }
}

TEST(Jpeg, DamagedFilesHaveThePixelsOrTheErrorOfLibjpeg) {
  Readers readers;
  RandomRegions random;
  for (const JpegStyle& style : kOwnStyles) {
    const std::string file = made_jpeg(50, 70, style);
    for (std::size_t at = 2; at < file.size(); at += 5) {
      std::string broken = file;
      broken[at] = static_cast<char>(broken[at] ^ (1 << random.below(8)));
      const Region region = random.of({50, 70});
      ASSERT_TRUE(readers.agree(broken, &region, Colors::kRgb)) << at;
      broken[at] = static_cast<char>(random.below(2) == 0 ? 0xFF : random.below(256));
      ASSERT_TRUE(readers.agree(broken, nullptr, Colors::kRgb)) << at;
    }
  }
}

// With ECHOLINE_TEST_DATA, photos of cameras and of many encoders.
TEST(Jpeg, PhotosHaveThePixelsOfLibjpeg) {
  const char* data = std::getenv("ECHOLINE_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "ECHOLINE_TEST_DATA is not set";
  const std::filesystem::path shard =
      std::filesystem::path(data) / "imagenet" / "imagenet-000000.tar";
  if (!std::filesystem::exists(shard)) GTEST_SKIP() << shard << " is missing";
  std::ifstream stream(shard, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string tar = std::move(text).str();
  constexpr std::size_t kBlock = 512;  // POSIX ustar
  Readers readers;
  RandomRegions random;
  for (std::size_t at = 0; at + kBlock <= tar.size() && tar[at] != '\0';) {
    const std::string name(tar.c_str() + at);
    const std::size_t bytes = std::strtoul(tar.c_str() + at + 124, nullptr, 8);
    if (name.ends_with(".jpg")) {
      const std::string file = tar.substr(at + kBlock, bytes);
      const auto size = readers.size(file);
      ASSERT_TRUE(size.ok()) << name;
      const Region region = random.of(size.value());
      ASSERT_TRUE(readers.agree(file, nullptr, Colors::kRgb)) << name;
      ASSERT_TRUE(readers.agree(file, &region, Colors::kGray)) << name;
    }
    at += kBlock + (bytes + kBlock - 1) / kBlock * kBlock;
  }
  EXPECT_GT(readers.own(), 100U);
}

}  // namespace
}  // namespace echoline::decode
