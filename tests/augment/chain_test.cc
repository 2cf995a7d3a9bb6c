// The whole chain: shapes, errors, the draws of each step, unchanged fields, no allocations.
#include "augment/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "augment/draws.h"
#include "augment/image_type.h"
#include "augment/row_shapes.h"
#include "augment/steps.h"
#include "decode/allocations.h"

namespace echoline::augment {
namespace {

using decode::FieldType;
using decode::Sample;
using decode::Shape;
using decode::Tensor;
using ::testing::HasSubstr;

constexpr char kCrop[] = "random_resized_crop { field: 'image' size: [24, 32] }";
constexpr char kFlip[] = "horizontal_flip { field: 'image' probability: 0.5 }";
constexpr char kNormalize[] =
    "normalize { field: 'image' mean: [0.5, 0.5, 0.5] std: [0.2, 0.2, 0.2] }";

FieldType label_type() {
  FieldType type;
  type.name = "label";
  type.dtype = shm::kInt64;
  type.fixed = true;
  return type;
}

FieldType text_type() {
  FieldType type;
  type.name = "text";
  type.ragged = true;
  type.shape = {{16}, 1};
  return type;
}

std::vector<FieldType> types() { return {image_type(3), label_type(), text_type()}; }

Tensor tensor(shm::DType dtype, const Shape& shape, std::uint32_t seed = 1) {
  Tensor made{dtype, shape, {}};
  made.bytes.resize(shape.elements() * shm::dtype_bytes(dtype));
  for (std::byte& byte : made.bytes.span()) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<std::byte>(seed >> 24);
  }
  return made;
}

Sample sample_of(std::uint32_t height, std::uint32_t width, std::uint32_t text_bytes = 5) {
  Sample sample;
  sample.tensors.push_back(tensor(shm::kUint8, {{height, width, 3}, 3}));
  sample.tensors.push_back(tensor(shm::kInt64, {}));
  sample.tensors.push_back(tensor(shm::kUint8, {{text_bytes}, 1}));
  return sample;
}

// A chain with its scratch, and rows for the results of one sample.
class Runner {
 public:
  explicit Runner(const std::vector<std::string>& steps) {
    auto compiled = Chain::compile(stream_of(steps), types());
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    chain_ = std::move(compiled).value();
    scratch_ = chain_->make_scratch();
  }

  Chain& chain() const { return *chain_; }
  std::vector<FieldType> outputs_for(const Sample& sample) {
    const auto outputs = chain_->outputs_for(sample);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.value();
  }
  void make_rows(const Sample& sample) {
    const auto outputs = outputs_for(sample);
    buffers_.resize(outputs.size());
    rows_.resize(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      buffers_[i].resize(outputs[i].shape.elements() * shm::dtype_bytes(outputs[i].dtype));
      rows_[i] = buffers_[i].span();
    }
  }
  Status run(const Sample& sample, const UseKey& key = {}) {
    if (!chain_->has_shared()) return chain_->run(sample, key, *scratch_, rows_, lengths_);
    ECHOLINE_ASSIGN(const Sample* const shared, chain_->run_shared(sample, key, *scratch_));
    return chain_->run(*shared, key, *scratch_, rows_, lengths_);
  }
  Status run_prepared(Sample& sample) { return chain_->run_prepared(sample, *scratch_); }
  std::string row(std::size_t field) const {
    return {reinterpret_cast<const char*>(buffers_[field].data()), buffers_[field].size()};
  }
  std::string image(const Sample& sample, const UseKey& key = {}) {
    make_rows(sample);
    const Status status = run(sample, key);
    EXPECT_TRUE(status.ok()) << status.message();
    return row(0);
  }
  std::uint64_t length(std::size_t field) const { return lengths_[field]; }
  // Whether the last step still knows a row of the batch: it must not write there later.
  bool knows_rows() const {
    return std::ranges::any_of(scratch_->stages.back().after.tensors,
                               [](const Tensor& result) { return !result.destination.empty(); });
  }

 private:
  std::unique_ptr<Chain> chain_;
  std::unique_ptr<Scratch> scratch_;
  std::vector<Buffer> buffers_;
  std::vector<std::span<std::byte>> rows_;
  std::vector<std::uint64_t> lengths_ = std::vector<std::uint64_t>(8, 99);
};

TEST(Chain, WithoutStepsCopiesAndGivesLengthsOfRaggedFields) {
  Runner runner({"decode {}", "batch { size: 2 }"});
  EXPECT_FALSE(runner.chain().outputs()[0].fixed);
  const Sample sample = sample_of(10, 12, 7);
  EXPECT_EQ(runner.outputs_for(sample)[0].shape, (Shape{{10, 12, 3}, 3}));
  const std::string image = runner.image(sample);
  EXPECT_EQ(std::memcmp(image.data(), sample.tensors[0].bytes.data(), image.size()), 0);
  EXPECT_EQ(std::memcmp(runner.row(1).data(), sample.tensors[1].bytes.data(), 8), 0);
  EXPECT_EQ(std::memcmp(runner.row(2).data(), sample.tensors[2].bytes.data(), 7), 0);
  EXPECT_EQ(runner.length(2), 7U);
}

TEST(Chain, AShapeIsKnownIfAStepDeterminesIt) {
  const auto output = [](const std::vector<std::string>& steps) {
    return Runner(steps).chain().outputs()[0];
  };
  EXPECT_FALSE(output({"resize { field: 'image' size: 20 }"}).fixed);
  EXPECT_EQ(output({kCrop}).shape, (Shape{{24, 32, 3}, 3}));
  EXPECT_EQ(
      output({"resize { field: 'image' size: 20 }", "center_crop { field: 'image' size: 16 }"})
          .shape,
      (Shape{{16, 16, 3}, 3}));
  const FieldType normalized = output({kCrop, kNormalize});
  EXPECT_TRUE(normalized.fixed);
  EXPECT_EQ(normalized.shape, (Shape{{3, 24, 32}, 3}));
  EXPECT_EQ(normalized.dtype, shm::kFloat32);
}

TEST(Chain, OutputsForASampleFollowItsSize) {
  Runner runner({"resize { field: 'image' size: 20 }"});
  EXPECT_EQ(runner.outputs_for(sample_of(40, 61))[0].shape, (Shape{{20, 30, 3}, 3}));
  EXPECT_EQ(runner.outputs_for(sample_of(61, 40))[0].shape, (Shape{{30, 20, 3}, 3}));
}

TEST(RowShapes, TwoRecordsOfAnotherShapeAreRefusedAndOneIsNot) {
  Runner runner({"resize { field: 'image' size: 20 }"});
  RowShapes shapes(runner.chain());
  EXPECT_FALSE(shapes.settled());
  ASSERT_TRUE(shapes.take(runner.outputs_for(sample_of(40, 61))).ok());
  ASSERT_TRUE(shapes.take(runner.outputs_for(sample_of(61, 40))).ok());
  ASSERT_TRUE(shapes.take(runner.outputs_for(sample_of(80, 122))).ok());
  EXPECT_EQ((*shapes.types())[0].shape, (Shape{{20, 30, 3}, 3}));
  EXPECT_FALSE(shapes.settled());
  const Status refused = shapes.take(runner.outputs_for(sample_of(40, 40)));
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("field image has rows of different shapes, [20, 30, 3] "
                                           "and [20, 20, 3]"));
  EXPECT_THAT(refused.message(), HasSubstr("resize: {field: image, size: [height, width]}"));
}

TEST(RowShapes, AreSettledByTheFirstRecordIfTheStepsFixThem) {
  Runner runner({"resize { field: 'image' size: 20 }", "center_crop { field: 'image' size: 16 }"});
  RowShapes shapes(runner.chain());
  ASSERT_TRUE(shapes.take(runner.outputs_for(sample_of(40, 61))).ok());
  EXPECT_TRUE(shapes.settled());
}

TEST(Chain, ASampleOfAnotherShapeIsRefusedEvenWithEquallyManyBytes) {
  Runner runner({"decode {}"});
  runner.make_rows(sample_of(10, 12));
  runner.chain().fix_outputs(runner.outputs_for(sample_of(10, 12)));
  EXPECT_TRUE(runner.run(sample_of(10, 12)).ok());
  for (const Sample& other : {sample_of(12, 10), sample_of(20, 20)}) {
    const Status status = runner.run(other);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("where the stream's is [10, 12, 3]"));
  }
  EXPECT_EQ(runner.run(sample_of(10, 12, 17)).code(), Code::kInvalidArgument);
}

TEST(Chain, InvalidStepsAreRefusedWithStepKeyAndAllowedValues) {
  const std::pair<std::vector<std::string>, const char*> kCases[] = {
      {{"resize { field: 'img' size: 8 }"},
       "field \"img\" does not exist here; the fields are: image, label, text"},
      {{"resize { field: 'label' size: 8 }"}, "field label is no image"},
      {{"resize { field: 'image' }"}, "size has 0 numbers"},
      {{"resize { field: 'image' size: [1, 2, 3] }"}, "size has 3 numbers"},
      {{"resize { field: 'image' size: 0 }"}, "1 to 65535"},
      {{"resize { field: 'image' size: [60000, 60000] }"}, "at most 100000000"},
      {{"resize { field: 'image' size: 8 interpolation: 'area' }"},
       "allowed are bilinear, bicubic"},
      {{"random_resized_crop { field: 'image' size: 8 scale: [0, 1] }"}, "scale is [0, 1]"},
      {{"random_resized_crop { field: 'image' size: 8 ratio: [2, 1] }"}, "ratio is [2, 1]"},
      {{"center_crop { field: 'image' size: 8 }", "random_crop { field: 'image' size: 9 }"},
       "a crop of 9 x 9 does not fit in 8 x 8"},
      {{"horizontal_flip { field: 'image' probability: 1.5 }"},
       "probability is 1.5; 0 to 1 is allowed"},
      {{"cutout { field: 'image' }"}, "1 to 65535"},
      {{"color_jitter { field: 'image' hue: 0.6 }"}, "hue is 0.6; 0 to 0.5"},
      {{"color_jitter { field: 'image' contrast: -1 }"}, "contrast is -1"},
      {{"color_jitter { field: 'image' probability: -0.1 }"}, "probability is -0.1; 0 to 1"},
      {{"normalize { field: 'image' mean: [0.5] std: [0.5] }"}, "3 each are needed"},
      {{"normalize { field: 'image' mean: [0, 0, 0] std: [1, 1, 0] }"}, "std not 0"},
      {{"normalize { field: 'image' mean: [0, 0, 0] std: [1, 1, 1] layout: 'nchw' }"}, "chw, hwc"},
      {{"normalize { field: 'image' mean: [0, 0, 0] std: [1, 1, 1] dtype: 'int8' }"},
       "float32, float16"},
      {{"pad { field: 'words' length: 3 }"},
       "field \"words\" does not exist here; the fields are: image, label, text"},
      {{"pad { field: 'label' length: 3 }"}, "field label has one shape already"},
      {{"pad { field: 'text' length: 3 value: 256 }"}, "value 256 is no value of the field's type"},
      {{"pad { field: 'text' length: 3 value: 0.5 }"}, "value 0.5 is no value"},
      {{"pad { field: 'text' length: 3 lengths: 'label' }"}, "field \"label\" exists already"},
      {{"pad { field: 'text' length: 3 lengths: '1st' }"}, "\"1st\" is no field name"},
      {{kNormalize, kFlip}, "float32 since normalize, which has to be its last step"},
  };
  for (const auto& [steps, words] : kCases) {
    std::vector<std::string> pipeline{"read {}", "decode {}"};
    pipeline.insert(pipeline.end(), steps.begin(), steps.end());
    const auto chain = Chain::compile(stream_of(pipeline), types());
    ASSERT_FALSE(chain.ok()) << words;
    EXPECT_THAT(chain.status().message(), HasSubstr(words));
    EXPECT_THAT(chain.status().message(),
                HasSubstr("pipeline step " + std::to_string(pipeline.size()) + " ("));
  }
}

TEST(Chain, ACropThatDoesNotFitIsAnErrorOfTheSample) {
  Runner runner({"random_crop { field: 'image' size: 30 padding: 2 }"});
  runner.make_rows(sample_of(30, 30));
  EXPECT_TRUE(runner.run(sample_of(26, 30)).ok());
  const Status status = runner.run(sample_of(25, 30));
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("30 x 30 does not fit in 25 x 30 pixels with padding 2"));
}

TEST(Chain, AThinStripIsNotEnlargedBeyondTheLimit) {
  Runner runner({"resize { field: 'image' size: 9000 }", "center_crop { field: 'image' size: 4 }"});
  runner.make_rows(sample_of(1, 100));
  EXPECT_EQ(runner.run(sample_of(1, 100)).code(), Code::kResourceExhausted);
}

TEST(Chain, DrawsAreThoseOfTheDocumentedFunctions) {
  const Sample sample = sample_of(50, 60);
  for (std::uint64_t id = 0; id < 20; ++id) {
    const UseKey key{.seed = 5, .sample = id, .epoch = 1, .use = 3};
    Runner runner({"decode {}", "random_crop { field: 'image' size: [20, 30] }", kFlip});
    const std::string made = runner.image(sample, key);
    const Box box = random_crop_box(key, 1, 50, 60, 20, 30);
    const bool flip = flip_drawn(key, 2, 0.5);
    const auto* pixels = reinterpret_cast<const char*>(sample.tensors[0].bytes.data());
    for (std::size_t y = 0; y < 20; ++y) {
      for (std::size_t x = 0; x < 30; ++x) {
        const std::size_t from = (box.top + y) * 60 + box.left + (flip ? 29 - x : x);
        ASSERT_EQ(made.substr((y * 30 + x) * 3, 3), std::string(pixels + from * 3, 3));
      }
    }
  }
}

TEST(Chain, MovingEchoCacheAndBatchChangesNoPixel) {
  const Sample sample = sample_of(50, 60);
  const UseKey key{.seed = 5, .sample = 8, .epoch = 1, .use = 0};
  Runner first({"read {}", "cache {}", "decode {}", "echo { factor: 2000 window: 8 }", kCrop, kFlip,
                "batch {}"});
  Runner second({"read {}", "echo { factor: 2000 window: 8 }", "decode {}", kCrop, kFlip,
                 "batch {}", "publish {}"});
  Runner third(
      {"read {}", "decode {}", kCrop, kFlip, "batch {}", "echo { factor: 2000 window: 8 }"});
  const std::string made = first.image(sample, key);
  EXPECT_EQ(second.image(sample, key), made);
  EXPECT_EQ(third.image(sample, key), made);
}

TEST(Chain, StepsBeforePrepareMakeSamplesOfTheSameRows) {
  const std::string resize = "resize { field: 'image' size: [40, 44] }";
  const UseKey key{.seed = 5, .sample = 8, .epoch = 1, .use = 3};
  const Sample sample = sample_of(50, 60);
  Runner whole({"decode {}", resize, kCrop, kFlip});
  Runner host({"decode {}", resize, "prepare {}", kCrop, kFlip});
  Runner server({"decode {}", resize, "prepare {}"});
  EXPECT_FALSE(whole.chain().has_prepared());
  ASSERT_TRUE(host.chain().has_prepared());
  EXPECT_FALSE(host.chain().has_shared());
  for (const Runner* runner : {&host, &server}) {
    ASSERT_EQ(runner->chain().prepared_types().size(), types().size());
    EXPECT_EQ(runner->chain().prepared_types()[0].shape, (Shape{{40, 44, 3}, 3}));
  }
  Sample prepared = sample_of(50, 60);
  ASSERT_TRUE(server.run_prepared(prepared).ok());
  EXPECT_EQ(prepared.tensors[0].content().size(), 40 * 44 * 3);
  EXPECT_EQ(host.image(prepared, key), whole.image(sample, key));
  // The memory of the result is that of an earlier sample, here with a part of a picture.
  prepared = sample_of(50, 60);
  prepared.tensors[0].part = decode::whole_picture({50, 60});
  ASSERT_TRUE(server.run_prepared(prepared).ok());
  prepared = sample_of(50, 60);
  ASSERT_TRUE(server.run_prepared(prepared).ok());
  EXPECT_FALSE(prepared.tensors[0].part);
  // Without such steps samples stay as they were decoded.
  Runner plain({"decode {}", "prepare {}", kFlip});
  EXPECT_FALSE(plain.chain().has_prepared());
  EXPECT_FALSE(plain.chain().prepared_types()[0].fixed);
}

TEST(Chain, OnlyStepsWithoutDrawsAndUsersCodeMayComeBeforePrepare) {
  const auto outcome = Chain::compile(stream_of({"decode {}", kFlip, "prepare {}"}), types());
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.status().message(),
              HasSubstr("pipeline step 2 (horizontal_flip): draws at random or runs your code"));
}

TEST(Chain, StepsBeforeAnEchoBetweenStepsHaveTheDrawsOfTheFirstUse) {
  const std::string crop = "random_crop { field: 'image' size: [20, 30] }";
  const std::string echo = "echo { factor: 4000 window: 8 }";
  Runner cropped({"decode {}", crop});
  Runner shared({"decode {}", crop, echo, kFlip});
  ASSERT_TRUE(shared.chain().has_shared());
  const Sample sample = sample_of(50, 60);
  int flips = 0;
  for (std::uint16_t use = 0; use < 20; ++use) {
    const UseKey key{.seed = 5, .sample = 3, .epoch = 1, .use = use};
    const UseKey first{.seed = 5, .sample = 3, .epoch = 1, .use = 0};
    std::string expected = cropped.image(sample, first);
    if (flip_drawn(key, 2, 0.5)) {
      ++flips;
      const std::string source = expected;
      for (std::size_t i = 0; i < source.size(); ++i) {
        const std::size_t pixel = i / 3;
        const std::size_t mirrored = pixel / 30 * 30 + 29 - pixel % 30;
        expected[mirrored * 3 + i % 3] = source[i];
      }
    }
    ASSERT_EQ(shared.image(sample, key), expected) << "use " << use;
  }
  EXPECT_GT(flips, 0);
  EXPECT_LT(flips, 20);
  // An echo at an end of the steps needs nothing of its own.
  EXPECT_FALSE(Runner({"decode {}", echo, crop, kFlip}).chain().has_shared());
  EXPECT_FALSE(Runner({"decode {}", crop, kFlip, echo}).chain().has_shared());
}

TEST(Chain, PadGivesRaggedFieldsOneLengthAndANewFieldTheirLengths) {
  const std::string pad = "pad { field: 'text' length: 9 value: 7 lengths: 'text_length'";
  Runner runner({"decode {}", kFlip, pad + " }", kCrop});
  const std::vector<FieldType>& outputs = runner.chain().outputs();
  ASSERT_EQ(outputs.size(), 4U);
  EXPECT_EQ(outputs[2].shape, (Shape{{9}, 1}));
  EXPECT_FALSE(outputs[2].ragged);
  EXPECT_EQ(outputs[3].name, "text_length");
  EXPECT_EQ(outputs[3].dtype, shm::kInt64);
  const Sample sample = sample_of(50, 60, 5);
  // Steps on both sides of it change the image as they do without it.
  EXPECT_EQ(runner.image(sample),
            Runner({"decode {}", kFlip, "horizontal_flip { field: 'image' probability: 0 }", kCrop})
                .image(sample));
  const auto* text = reinterpret_cast<const char*>(sample.tensors[2].bytes.data());
  EXPECT_EQ(runner.row(2), std::string(text, 5) + std::string(4, 7));
  EXPECT_EQ(runner.row(3), std::string("\5\0\0\0\0\0\0\0", 8));
  EXPECT_FALSE(runner.knows_rows());
  const Status longer = runner.run(sample_of(50, 60, 10));
  EXPECT_THAT(longer.message(), HasSubstr("pipeline step 3 (pad): field text has 10 elements"));
  EXPECT_FALSE(runner.knows_rows());

  Runner cutting({"decode {}", pad + " longer: 'cut' }"});
  const Sample longer_sample = sample_of(50, 60, 10);
  cutting.image(longer_sample);
  EXPECT_EQ(cutting.row(2),
            std::string(reinterpret_cast<const char*>(longer_sample.tensors[2].bytes.data()), 9));
}

TEST(Chain, TheSampleIsNotChanged) {
  const Sample sample = sample_of(40, 44);
  const Sample same = sample_of(40, 44);
  for (const char* step : {"cutout { field: 'image' size: 9 }",
                           "color_jitter { field: 'image' brightness: 0.9 hue: 0.3 }",
                           "horizontal_flip { field: 'image' probability: 1 }"}) {
    Runner runner({step});
    runner.image(sample, {.seed = 3});
    EXPECT_EQ(
        std::memcmp(sample.tensors[0].bytes.data(), same.tensors[0].bytes.data(), 40 * 44 * 3), 0);
  }
}

// The result of one chain per step; each one's result is the next one's sample.
std::string step_by_step(const std::vector<std::string>& steps, Sample sample, const UseKey& key) {
  std::string image;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // The step must keep its number, so steps that do nothing replace the steps before it.
    std::vector<std::string> alone(i, "horizontal_flip { field: 'image' probability: 0 }");
    alone.push_back(steps[i]);
    Runner runner(alone);
    image = runner.image(sample, key);
    sample.tensors[0].shape = runner.outputs_for(sample)[0].shape;
    sample.tensors[0].bytes.resize(image.size());
    std::memcpy(sample.tensors[0].bytes.data(), image.data(), image.size());
  }
  return image;
}

TEST(Chain, FusedStepsEqualTheSameStepsOneByOne) {
  const std::string jitter =
      "color_jitter { field: 'image' brightness: 0.5 contrast: 0.5 hue: 0.2 }";
  const std::string cutout = "cutout { field: 'image' size: 9 fill: 7 }";
  const std::string crop = "random_crop { field: 'image' size: [20, 22] padding: 3 }";
  const std::string centre = "center_crop { field: 'image' size: [18, 26] }";
  const std::string resize = "resize { field: 'image' size: [30, 28] }";
  const std::string sure = "horizontal_flip { field: 'image' probability: 1 }";
  const std::string recipe = "rand_augment { field: 'image' operations: 3 magnitude: 12 }";
  const std::string blur = "gaussian_blur { field: 'image' size: 5 probability: 0.5 }";
  const std::string erasing = "random_erasing { field: 'image' probability: 0.5 }";
  const std::string sharp = "adjust_sharpness { field: 'image' factor: 2 probability: 0.5 }";
  const std::vector<std::vector<std::string>> kChains = {
      {kCrop, kFlip, cutout},
      {kFlip, kCrop, kFlip, jitter},
      {resize, centre, sure, cutout, jitter},
      {crop, sure, cutout, resize},
      {sure, centre, jitter, crop},
      {cutout, sure, crop, sure, resize, sure},
      {centre, cutout, centre},
      {jitter, kCrop, kFlip, kFlip},
      {resize, sure, resize, centre, cutout},
      {kCrop, kFlip, recipe, erasing},
      {recipe, centre, kFlip, blur, sharp},
      {sure, sharp, kFlip, recipe, jitter, blur}};
  for (const auto& steps : kChains) {
    for (std::uint64_t id = 0; id < 6; ++id) {
      const UseKey key{.seed = 11, .sample = id, .epoch = 0, .use = 0};
      EXPECT_EQ(Runner(steps).image(sample_of(45, 51), key),
                step_by_step(steps, sample_of(45, 51), key))
          << testing::PrintToString(steps);
    }
  }
}

TEST(Chain, TheSteadyStateAllocatesNothing) {
  Runner runner(
      {"color_jitter { field: 'image' brightness: 0.4 contrast: 0.4 saturation: 0.4 hue: 0.1 }",
       "resize { field: 'image' size: 40 }", kCrop, kFlip, "cutout { field: 'image' size: 8 }",
       "rand_augment { field: 'image' }", "gaussian_blur { field: 'image' size: 7 }",
       "random_erasing { field: 'image' probability: 0.5 }", kNormalize});
  const Sample samples[] = {sample_of(50, 60), sample_of(80, 41), sample_of(33, 97)};
  runner.make_rows(samples[0]);
  long before = 0;
  for (std::uint64_t round = 0; round < 60; ++round) {
    if (round == 30) before = allocation_count;
    for (const Sample& sample : samples) {
      // The same uses again, so that all buffers are large enough.
      ASSERT_TRUE(runner.run(sample, {.seed = 1, .sample = round % 30}).ok());
    }
  }
  EXPECT_EQ(allocation_count - before, 0);
}

}  // namespace
}  // namespace echoline::augment
