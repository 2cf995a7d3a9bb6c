// A region of a picture has the pixels of the whole picture there, and the same verdict, whatever
// the file is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "decode/image_decoder.h"
#include "decode/made_images.h"
#include "decode/random_regions.h"

namespace echoline::decode {
namespace {

struct Named {
  const char* name;
  JpegStyle style;
};

const Named kStyles[] = {
    {"4:2:0", {}},
    {"4:4:4", {.wide = 1, .high = 1}},
    {"4:2:2", {.wide = 2, .high = 1}},
    {"4:4:0", {.wide = 1, .high = 2}},
    {"4:1:1", {.wide = 4, .high = 1}},
    {"4:1:0", {.wide = 4, .high = 2}},
    {"gray", {.channels = 1, .wide = 1, .high = 1}},
    {"gray with factors", {.channels = 1}},
    {"4:2:0 with restarts", {.restart_rows = 1}},
    {"4:2:2 with restarts", {.wide = 2, .high = 1, .restart_rows = 2}},
    {"progressive", {.progressive = true}},
    {"4:4:4 progressive", {.progressive = true, .wide = 1, .high = 1}},
    {"arithmetic", {.arithmetic = true}},
    {"high quality", {.quality = 98}},
};

class Pictures {
 public:
  Result<ImageSize> open(const std::string& file, bool exif = false) {
    return decoder_.open(bytes_of(file), exif);
  }

  // The whole picture if `region` is null.
  Status read(const std::string& file, const Region* region, Colors colors, bool exif,
              std::vector<std::uint8_t>& pixels) {
    ECHOLINE_ASSIGN(ImageSize size, open(file, exif));
    size = reduced_size(size);
    const Region part = region == nullptr ? whole_picture(size) : *region;
    pixels.assign(std::size_t{part.height} * part.width * channel_count(colors), 0xAA);
    return decoder_.read(part, colors, pixels.data());
  }

  // The size of the opened picture once it is reduced; as it is where that can't be done.
  ImageSize reduced_size(const ImageSize& size) {
    const std::uint32_t by = decoder_.reduce(by_).by;
    return {(size.height + by - 1) / by, (size.width + by - 1) / by};
  }
  void reduce(std::uint32_t by) { by_ = by; }

 private:
  ImageDecoder decoder_;  // reused, as in a worker
  std::uint32_t by_ = 1;
};

std::vector<std::uint8_t> cut(const std::vector<std::uint8_t>& pixels, std::uint32_t width,
                              const Region& region, Colors colors) {
  const std::size_t channels = channel_count(colors);
  std::vector<std::uint8_t> part;
  for (std::uint32_t y = region.top; y < region.top + region.height; ++y) {
    const auto row = pixels.begin() +
                     static_cast<std::ptrdiff_t>((std::size_t{y} * width + region.left) * channels);
    part.insert(part.end(), row, row + static_cast<std::ptrdiff_t>(region.width * channels));
  }
  return part;
}

std::string text_of(const Region& region) {
  return testing::PrintToString(
      std::vector<std::uint32_t>{region.top, region.left, region.height, region.width});
}

;

// Some regions of one file; false stops the test after the first difference.
bool regions_are_equal(Pictures& pictures, RandomRegions& random, const std::string& file,
                       bool exif, int count) {
  const auto opened = pictures.open(file, exif);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  const ImageSize size = pictures.reduced_size(opened.value());
  for (const Colors colors : {Colors::kRgb, Colors::kGray}) {
    std::vector<std::uint8_t> whole;
    EXPECT_TRUE(pictures.read(file, nullptr, colors, exif, whole).ok());
    for (int i = 0; i < count; ++i) {
      const Region region = random.of(size);
      std::vector<std::uint8_t> part;
      EXPECT_TRUE(pictures.read(file, &region, colors, exif, part).ok());
      if (part == cut(whole, size.width, region, colors)) continue;
      ADD_FAILURE() << size.height << " x " << size.width << ", " << text_of(region);
      return false;
    }
  }
  return true;
}

TEST(Region, HasThePixelsOfTheWholePictureForEverySampling) {
  Pictures pictures;
  RandomRegions random;
  for (const Named& named : kStyles) {
    SCOPED_TRACE(named.name);
    for (std::uint32_t size = 1; size <= 70; ++size) {
      const std::string wide = made_jpeg(1 + random.below(70), size, named.style);
      const std::string high = made_jpeg(size, 1 + random.below(70), named.style);
      ASSERT_TRUE(regions_are_equal(pictures, random, wide, false, 6));
      ASSERT_TRUE(regions_are_equal(pictures, random, high, false, 6));
    }
    for (const auto& [height, width] : {std::pair(211U, 333U), {257U, 129U}, {90U, 601U}}) {
      const std::string file = made_jpeg(height, width, named.style);
      ASSERT_TRUE(regions_are_equal(pictures, random, file, false, 40));
    }
  }
}

TEST(Region, OfAReducedPictureHasItsPixels) {
  Pictures pictures;
  RandomRegions random;
  for (const std::uint32_t by : {2U, 4U, 8U}) {
    pictures.reduce(by);
    for (const Named& named : kStyles) {
      SCOPED_TRACE(named.name);
      for (std::uint32_t size = 1; size <= 200; size += 7) {
        const std::string file = made_jpeg(1 + random.below(200), size, named.style);
        const auto orientation = static_cast<std::uint8_t>(1 + random.below(8));
        ASSERT_TRUE(
            regions_are_equal(pictures, random, with_orientation(file, orientation), true, 6))
            << by;
      }
    }
  }
}

TEST(Region, IsThatOfTheUprightPicture) {
  Pictures pictures;
  RandomRegions random;
  for (std::uint8_t orientation = 1; orientation <= 8; ++orientation) {
    for (const bool progressive : {false, true}) {
      const std::string file = with_orientation(made_jpeg(61, 83, progressive), orientation);
      ASSERT_TRUE(regions_are_equal(pictures, random, file, true, 30)) << int{orientation};
    }
  }
}

TEST(Region, OfAPngHasThePixelsOfTheWholePicture) {
  Pictures pictures;
  RandomRegions random;
  ASSERT_TRUE(regions_are_equal(pictures, random, made_png(53, 47), false, 30));
}

// Whole and region agree on a damaged file, also if the damage is elsewhere.
void expect_same_verdict(Pictures& pictures, const std::string& file, const Region& region,
                         int& refused) {
  std::vector<std::uint8_t> whole;
  std::vector<std::uint8_t> part;
  const Status expected = pictures.read(file, nullptr, Colors::kRgb, false, whole);
  const auto size = pictures.open(file);
  if (size.ok() && (region.top + region.height > size.value().height ||
                    region.left + region.width > size.value().width)) {
    return;  // the damage changed the size
  }
  const Status found = pictures.read(file, &region, Colors::kRgb, false, part);
  ASSERT_EQ(found.message(), expected.message());
  ASSERT_EQ(found.code(), expected.code());
  refused += expected.ok() ? 0 : 1;
  if (expected.ok()) {
    ASSERT_EQ(part, cut(whole, size.value().width, region, Colors::kRgb));
  }
}

TEST(Region, OfADamagedFileHasTheVerdictOfTheWhole) {
  Pictures pictures;
  RandomRegions random;
  int refused = 0;
  for (const Named& named : kStyles) {
    SCOPED_TRACE(named.name);
    const std::string file = made_jpeg(70, 90, named.style);
    for (std::size_t at = 0; at < file.size(); at += 3) {
      std::string broken = file;
      broken[at] = static_cast<char>(broken[at] ^ (1 << random.below(8)));
      expect_same_verdict(pictures, broken, random.of({70, 90}), refused);
      if (HasFatalFailure()) FAIL() << "byte " << at;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(Region, OfATruncatedFileIsAnErrorEvenAboveTheEnd) {
  Pictures pictures;
  const Region top{0, 0, 8, 90};
  for (const std::string& file : {made_jpeg(70, 90), made_jpeg(70, 90, true)}) {
    std::vector<std::uint8_t> part;
    ASSERT_TRUE(pictures.read(file, &top, Colors::kRgb, false, part).ok());
    for (std::size_t length = 0; length < file.size(); ++length) {
      const Status status = pictures.read(file.substr(0, length), &top, Colors::kRgb, false, part);
      ASSERT_EQ(status.code(), Code::kDataLoss) << length;
    }
  }
}

}  // namespace
}  // namespace echoline::decode
