// Rows from parts of pictures equal rows from whole pictures, for every pipeline, and the parts are
// as small as they should be.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "augment/chain.h"
#include "decode/allocations.h"
#include "decode/decoder.h"
#include "decode/made_images.h"
#include "echoline/v1/config.pb.h"

namespace echoline::augment {
namespace {

using decode::JpegStyle;
using decode::made_jpeg;
using decode::Region;

std::string step(const std::string& name, const std::string& settings) {
  return "pipeline { " + name + " { field: 'image' " + settings + " } }\n";
}

const std::string kRandomResized = step("random_resized_crop", "size: [24, 32]");
const std::string kFlip = step("horizontal_flip", "probability: 0.5");
const std::string kCentre = step("center_crop", "size: [20, 22]");
const std::string kRandom = step("random_crop", "size: [20, 24]");
const std::string kPadded = step("random_crop", "size: [40, 41] padding: 30 fill: 7");
const std::string kShorter = step("resize", "size: 30");
const std::string kSmall = step("resize", "size: [29, 33] interpolation: 'bicubic'");
const std::string kCutout = step("cutout", "size: 9");
const std::string kRecipe = step("rand_augment", "operations: 4 magnitude: 20");
const std::string kBlur = step("gaussian_blur", "size: 5");
const std::string kJitter = step("color_jitter", "brightness: 0.4 contrast: 0.4 hue: 0.1");

// Decodes whole pictures and parts, and runs the chain on both.
class TwoWays {
 public:
  TwoWays(const std::string& steps, const std::string& decoding) {
    const std::string text =
        "pipeline { decode { fields { key: 'image' value { key: 'jpg' " + decoding + " } } } }\n";
    v1::Stream stream;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text + steps, &stream));
    decoder_ = decode::Decoder::compile(stream.pipeline(0).decode()).value();
    auto chain = Chain::compile(stream, decoder_->fields());
    EXPECT_TRUE(chain.ok()) << chain.status().message();
    chain_ = std::move(chain).value();
    decode_scratch_ = decoder_->make_scratch();
    scratch_ = chain_->make_scratch();
  }

  Status whole(const std::string& file, const UseKey& key) {
    set_file(file);
    ECHOLINE_TRY(decoder_->decode(record_, *decode_scratch_, sample_));
    return run(key);
  }
  Status parts(const std::string& file, const UseKey& key) {
    set_file(file);
    const auto part_of = [this, &key](std::size_t field, const ImageSize& size) {
      return chain_->part_of(field, size, key);
    };
    ECHOLINE_TRY(decoder_->decode_parts(record_, part_of, *decode_scratch_, sample_));
    return run(key);
  }
  std::string row() const { return {reinterpret_cast<const char*>(row_.data()), row_.size()}; }
  // Of the last file.
  const decode::Tensor& tensor() const { return sample_.tensors[0]; }

 private:
  void set_file(const std::string& file) {
    record_.fields.clear();
    record_.fields.push_back({"jpg", decode::bytes_of(file)});
  }
  Status run(const UseKey& key) {
    const auto types = chain_->outputs_for(sample_).value();
    row_.resize(types[0].shape.elements() * shm::dtype_bytes(types[0].dtype));
    const std::span<std::byte> rows[] = {row_.span()};
    return chain_->run(sample_, key, *scratch_, rows, {});
  }

  std::unique_ptr<decode::Decoder> decoder_;
  std::unique_ptr<Chain> chain_;
  std::unique_ptr<decode::Scratch> decode_scratch_;
  std::unique_ptr<Scratch> scratch_;
  record::Fields record_;
  decode::Sample sample_;
  Buffer row_;
};

const std::vector<std::string> kPipelines = {kRandomResized + kFlip,
                                             kRandomResized + kCutout,
                                             kRandomResized + kShorter + kCentre + kFlip,
                                             kCentre + kJitter,
                                             kRandom + kFlip + kCutout,
                                             kPadded + kFlip,
                                             kPadded + kRandomResized,
                                             kRandom + kSmall + kFlip,
                                             kShorter + kCentre + kFlip,
                                             kShorter + kRandom + kFlip + kJitter,
                                             kSmall + kCentre,
                                             kSmall + kFlip + kCentre,
                                             kSmall + kCentre + kCentre,
                                             kFlip + kRandomResized,
                                             kCutout + kRandom,
                                             kCentre + kBlur + kRecipe,
                                             kSmall};

void expect_equal(TwoWays& rows, const std::string& file, const UseKey& key) {
  const Status expected = rows.whole(file, key);
  const std::string row = expected.ok() ? rows.row() : "";
  const Status found = rows.parts(file, key);
  ASSERT_EQ(found.message(), expected.message());
  if (expected.ok()) {
    ASSERT_TRUE(rows.row() == row);
  }
}

TEST(Part, GivesTheRowsOfTheWholePicture) {
  std::vector<std::string> files;
  for (const auto& [height, width] : {std::pair(1U, 1U), {45U, 51U}, {97U, 33U}, {210U, 333U}}) {
    for (const auto& [wide, high] : {std::pair(1, 1), {2, 1}, {2, 2}, {1, 2}, {4, 1}}) {
      files.push_back(made_jpeg(height, width, JpegStyle{.wide = wide, .high = high}));
    }
    files.push_back(made_jpeg(height, width, true));
    files.push_back(made_jpeg(height, width, JpegStyle{.channels = 1, .wide = 1, .high = 1}));
    files.push_back(decode::with_orientation(made_jpeg(height, width), 6));
    files.push_back(decode::made_png(height, width));
  }
  for (const std::string& steps : kPipelines) {
    SCOPED_TRACE(steps);
    for (const char* decoding : {"as: 'rgb'", "as: 'rgb' exif: true", "as: 'gray'"}) {
      if (steps.find("color_jitter") != std::string::npos && decoding[5] == 'g') continue;
      TwoWays rows(steps, decoding);
      for (std::size_t i = 0; i < files.size(); ++i) {
        for (std::uint64_t sample = 0; sample < 6; ++sample) {
          ASSERT_NO_FATAL_FAILURE(
              expect_equal(rows, files[i], {.seed = 3, .sample = sample, .epoch = 1, .use = 2}))
              << "file " << i << ", sample " << sample;
        }
      }
    }
  }
}

// The decoded pixels, as a share of the picture.
double decoded_share(const std::string& steps) {
  TwoWays rows(steps, "as: 'rgb'");
  const std::string file = made_jpeg(200, 300, true);
  double pixels = 0;
  for (std::uint64_t sample = 0; sample < 100; ++sample) {
    EXPECT_TRUE(rows.parts(file, {.seed = 3, .sample = sample}).ok());
    pixels += static_cast<double>(rows.tensor().bytes.size()) / 3;
  }
  return pixels / 100 / (200 * 300);
}

TEST(Part, IsNotLargerThanTheFirstStepNeeds) {
  EXPECT_NEAR(decoded_share(kRandomResized + kFlip), 0.39, 0.02);  // wide: large crops do not fit
  EXPECT_NEAR(decoded_share(kRandom), 20.0 * 24 / 60000, 1e-9);
  EXPECT_NEAR(decoded_share(kCentre + kCutout), 20.0 * 22 / 60000, 1e-9);
  // 20 of 30 rows and 22 of 45 columns, and the filter's width.
  EXPECT_NEAR(decoded_share(kShorter + kCentre), 0.38, 0.03);
  EXPECT_LT(decoded_share(kPadded), 0.03);
  EXPECT_EQ(decoded_share(kFlip + kRandom), 1);
  EXPECT_EQ(decoded_share(kSmall), 1);
}

TEST(Part, OfADamagedFileGivesTheVerdictOfTheWhole) {
  TwoWays rows(kRandomResized + kFlip, "as: 'rgb'");
  const std::string file = made_jpeg(90, 70);
  for (std::size_t at = 0; at < file.size(); at += 2) {
    std::string broken = file;
    broken[at] = static_cast<char>(broken[at] ^ 0x41);
    ASSERT_NO_FATAL_FAILURE(expect_equal(rows, broken, {.seed = 1, .sample = at})) << at;
    ASSERT_NO_FATAL_FAILURE(expect_equal(rows, file.substr(0, at), {.sample = at})) << at;
  }
}

TEST(Part, TheSteadyStateAllocatesNothing) {
  TwoWays rows(kRandomResized + kFlip, "as: 'rgb'");
  const std::string files[] = {made_jpeg(90, 70), made_jpeg(120, 151),
                               decode::with_orientation(made_jpeg(60, 80), 6)};
  long before = 0;
  long allocated = 0;
  for (std::uint64_t round = 0; round < 40; ++round) {
    for (const std::string& file : files) {
      before = allocation_count;
      ASSERT_TRUE(rows.parts(file, {.seed = 1, .sample = round % 20}).ok());
      if (round >= 20) allocated += allocation_count - before;
    }
  }
  // What the test itself asks for: the types of the row, with their names.
  EXPECT_LE(allocated, 60 * 2);
}

// Gradients without noise, so that means of pixels are pixels in between.
double mean_difference(const std::string& one, const std::string& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    sum += std::abs(static_cast<unsigned char>(one[i]) - static_cast<unsigned char>(other[i]));
  }
  return one.empty() ? 0 : sum / static_cast<double>(one.size());
}

const std::vector<std::string> kReducible = {kRandomResized + kFlip,
                                             kRandomResized + kShorter + kCentre + kFlip,
                                             kShorter + kCentre + kFlip,
                                             kShorter + kRandom,
                                             kSmall,
                                             kSmall + kFlip + kCentre};

TEST(Part, FastPixelsAreNearlyThoseOfTheSameCrop) {
  std::uint64_t reduced = 0;
  for (const std::string& steps : kReducible) {
    SCOPED_TRACE(steps);
    TwoWays exact(steps, "as: 'rgb' exif: true");
    TwoWays fast(steps, "as: 'rgb' exif: true fast: true");
    for (std::uint64_t i = 0; i < 40; ++i) {
      const auto height = static_cast<std::uint32_t>(200 + i * 37 % 171);
      const auto width = static_cast<std::uint32_t>(200 + i * 53 % 183);
      const int side = i % 3 == 0 ? 1 : 2;
      const std::string file = decode::with_orientation(
          made_jpeg(
              height, width,
              JpegStyle{.progressive = i % 5 == 0, .wide = side, .high = side, .quality = 95}),
          static_cast<std::uint8_t>(1 + i % 8));
      const UseKey key{.seed = 3, .sample = i};
      ASSERT_TRUE(exact.parts(file, key).ok());
      ASSERT_TRUE(fast.parts(file, key).ok());
      reduced += fast.tensor().reduction.by > 1 ? 1 : 0;
      ASSERT_LT(mean_difference(fast.row(), exact.row()), 2.5) << i;
    }
  }
  EXPECT_GT(reduced, 150U);
}

TEST(Part, FastChangesNothingWhereNothingIsMadeSmaller) {
  const std::string small = made_jpeg(45, 51);
  const std::string png = decode::made_png(210, 333);
  const std::string large = made_jpeg(210, 333);
  for (const auto& [steps, file] : {std::pair(kRandomResized + kFlip, small),
                                    {kRandomResized + kFlip, png},
                                    {kCentre + kJitter, large},
                                    {kFlip + kRandomResized, large}}) {
    TwoWays exact(steps, "as: 'rgb'");
    TwoWays fast(steps, "as: 'rgb' fast: true");
    ASSERT_TRUE(exact.whole(file, {.seed = 3}).ok());
    ASSERT_TRUE(fast.parts(file, {.seed = 3}).ok());
    EXPECT_TRUE(fast.row() == exact.row()) << steps;
    EXPECT_EQ(fast.tensor().reduction.by, 1U);
  }
}

TEST(Part, FastGivesADamagedFileTheSameVerdict) {
  TwoWays exact(kRandomResized, "as: 'rgb'");
  TwoWays fast(kRandomResized, "as: 'rgb' fast: true");
  int refused = 0;
  for (const bool progressive : {false, true}) {
    const std::string file = made_jpeg(150, 170, progressive);
    for (std::size_t at = 0; at < file.size(); at += 3) {
      std::string broken = file;
      broken[at] = static_cast<char>(broken[at] ^ 0x41);
      for (const std::string& damaged : {broken, file.substr(0, at)}) {
        const Status expected = exact.whole(damaged, {.sample = at});
        const Status found = fast.parts(damaged, {.sample = at});
        ASSERT_EQ(found.message(), expected.message()) << at;
        refused += found.ok() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

// The members of a tar, without long names.
std::vector<std::string> members_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string tar{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> members;
  for (std::size_t at = 0; at + 1024 < tar.size() && tar[at] != '\0';) {
    const std::size_t bytes = std::stoul(tar.substr(at + 124, 11), nullptr, 8);
    members.push_back(tar.substr(at + 512, bytes));
    at += 512 + (bytes + 511) / 512 * 512;
  }
  return members;
}

TEST(Part, GivesTheRowsOfWholePhotos) {
  const char* data = std::getenv("ECHOLINE_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "ECHOLINE_TEST_DATA is not set";
  TwoWays crops(step("random_resized_crop", "size: 224") + kFlip, "as: 'rgb'");
  TwoWays centres(step("resize", "size: 256") + step("center_crop", "size: 224"), "as: 'rgb'");
  TwoWays cubic(step("random_resized_crop", "size: 96 interpolation: 'bicubic'"), "as: 'gray'");
  std::uint64_t photos = 0;
  for (const char* name : {"imagenet-000000.tar", "imagenet-000004.tar"}) {
    for (const std::string& photo : members_of(std::string(data) + "/imagenet/" + name)) {
      if (!photo.starts_with("\xFF\xD8")) continue;
      const UseKey key{.seed = 9, .sample = photos++};
      for (TwoWays* rows : {&crops, &centres, &cubic}) {
        ASSERT_NO_FATAL_FAILURE(expect_equal(*rows, photo, key)) << "photo " << key.sample;
      }
    }
  }
  EXPECT_GT(photos, 100U);
}

// A sample for another host is small, and the next picture gets no new memory.
TEST(Prepared, TheMemoryOfADecodedPictureGoesBackToTheDecoder) {
  v1::Stream stream;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "pipeline { decode { fields { key: 'image' value { key: 'jpg' as: 'rgb' } } } }\n" + kSmall +
          "pipeline { prepare { servers: 'localhost:1' } }\n",
      &stream));
  const auto decoder = decode::Decoder::compile(stream.pipeline(0).decode()).value();
  const auto chain = Chain::compile(stream, decoder->fields()).value();
  const auto decode_scratch = decoder->make_scratch();
  const auto scratch = chain->make_scratch();
  const std::string file = made_jpeg(200, 300, {});
  record::Fields record;
  record.fields.push_back({"jpg", decode::bytes_of(file)});
  decode::Sample sample;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(decoder->decode(record, *decode_scratch, sample).ok());
    const std::byte* const picture = sample.tensors[0].bytes.data();
    ASSERT_TRUE(chain->run_prepared(sample, *scratch).ok());
    const Buffer taken = std::move(sample.tensors[0].bytes);
    EXPECT_EQ(taken.capacity(), 29U * 33 * 3);
    chain->give_back(sample, *scratch);
    EXPECT_EQ(sample.tensors[0].bytes.data(), picture);
  }
}

}  // namespace
}  // namespace echoline::augment
