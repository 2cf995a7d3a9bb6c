// Boxes in a chain: what is refused, and records whose boxes and labels do not fit together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "augment/chain.h"
#include "augment/draws.h"
#include "augment/row_shapes.h"
#include "augment/steps.h"
#include "decode/object_runs.h"

namespace echoline::augment {
namespace {

using decode::FieldType;
using decode::Sample;
using decode::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFlip[] = "horizontal_flip { field: 'image' probability: 1 }";
constexpr char kIouCrop[] = "random_iou_crop { field: 'image' }";

std::vector<FieldType> types() {
  return {
      {.name = "boxes",
       .dtype = shm::kFloat32,
       .ragged = true,
       .shape = {{8, 4}, 2},
       .of = "image"},
      {.name = "image", .image = true, .shape = {{0, 0, 3}, 3}},
      {.name = "labels", .dtype = shm::kInt64, .ragged = true, .shape = {{8}, 1}, .of = "boxes"}};
}

Result<std::unique_ptr<Chain>> compiled(const std::vector<std::string>& steps) {
  return Chain::compile(stream_of(steps), types());
}

template <typename T>
Tensor tensor(shm::DType dtype, const decode::Shape& shape, const std::vector<T>& values) {
  Tensor made{dtype, shape, {}};
  made.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

Sample sample_of(const std::vector<float>& corners, const std::vector<std::int64_t>& labels) {
  Sample sample;
  const auto boxes = static_cast<std::uint32_t>(corners.size() / 4);
  const auto count = static_cast<std::uint32_t>(labels.size());
  sample.tensors.push_back(tensor(shm::kFloat32, {{boxes, 4}, 2}, corners));
  sample.tensors.push_back(
      tensor(shm::kUint8, {{10, 20, 3}, 3}, std::vector<std::uint8_t>(600, 7)));
  sample.tensors.push_back(tensor(shm::kInt64, {{count}, 1}, labels));
  return sample;
}

// The row's boxes and labels.
struct Row {
  Status status;
  std::vector<float> corners;
  std::vector<std::int64_t> labels;
};

Row run(const std::vector<std::string>& steps, const Sample& sample) {
  auto chain = compiled(steps);
  if (!chain.ok()) return {chain.status(), {}, {}};
  const auto scratch = chain.value()->make_scratch();
  const auto outputs = chain.value()->outputs_for(sample);
  if (!outputs.ok()) return {outputs.status(), {}, {}};
  Row row{.status = {}, .corners = std::vector<float>(32), .labels = std::vector<std::int64_t>(8)};
  std::vector<std::byte> image(outputs.value()[1].shape.elements());
  const std::span<std::byte> rows[] = {std::as_writable_bytes(std::span(row.corners)), image,
                                       std::as_writable_bytes(std::span(row.labels))};
  std::uint64_t lengths[3] = {};
  row.status = chain.value()->run(sample, {}, *scratch, rows, lengths);
  row.corners.resize(lengths[0] / sizeof(float));
  row.labels.resize(lengths[2] / sizeof(std::int64_t));
  return row;
}

TEST(Boxes, WhatIsEmptyAfterAStepIsRemovedWithItsLabel) {
  const Sample sample = sample_of({1, 2, 5, 6, 3, 3, 3, 9, 15, 5, 25, 8}, {7, 8, 9});
  const Row row = run({kFlip}, sample);
  ASSERT_TRUE(row.status.ok()) << row.status.message();
  EXPECT_THAT(row.corners, ElementsAre(15, 2, 19, 6, 0, 5, 5, 8));
  EXPECT_THAT(row.labels, ElementsAre(7, 9));
  const Row same = run({"cutout { field: 'image' size: 3 }"}, sample);
  EXPECT_EQ(same.corners.size(), 12U);
  EXPECT_THAT(same.labels, ElementsAre(7, 8, 9));
  EXPECT_THAT(run({"center_crop { field: 'image' size: [2, 2] }"}, sample).labels, ElementsAre());
}

TEST(Boxes, ASampleWithoutBoxesHasNone) {
  for (const char* step : {kFlip, kIouCrop, "sanitize_boxes { field: 'boxes' }"}) {
    const Row row = run({step}, sample_of({}, {}));
    EXPECT_TRUE(row.status.ok()) << row.status.message();
    EXPECT_TRUE(row.corners.empty());
  }
}

TEST(Boxes, AnotherNumberOfLabelsIsABadRecord) {
  for (const char* step : {kFlip, kIouCrop, "sanitize_boxes { field: 'boxes' }"}) {
    EXPECT_THAT(run({step}, sample_of({1, 2, 5, 6}, {7, 8})).status.message(),
                HasSubstr("1 boxes have 2 labels or other elements"));
  }
}

TEST(Boxes, StepsThatDoNotFitAreRefused) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"pad { field: 'boxes' length: 9 }", kFlip},
       "can remove boxes of boxes, but boxes has one length since pad"},
      {{"pad { field: 'labels' length: 9 }", kFlip}, "labels has one length since pad"},
      {{"pad { field: 'boxes' length: 9 }", kIouCrop}, "field image has 0 fields of boxes"},
      {{"pad { field: 'labels' length: 9 }", kIouCrop},
       "can remove boxes of boxes, but labels has one length since pad"},
      {{"pad { field: 'labels' length: 9 }", "sanitize_boxes { field: 'boxes' }"},
       "can remove boxes of boxes, but labels has one length since pad"},
      {{"sanitize_boxes { field: 'labels' }"}, "field labels has no boxes"},
      {{"normalize { field: 'image' mean: [0, 0, 0] std: [1, 1, 1] }", kIouCrop},
       "field image is no image here"},
      {{"random_iou_crop { field: 'image' scale: [0.5, 2] }"}, "scale is at most 1"},
      {{"resize { field: 'image' size: 9 max_size: 9 }"}, "max_size is 9"},
      {{"resize { field: 'image' size: [9, 9] max_size: 20 }"}, "it is for one number as size"},
      {{"letterbox { field: 'image' size: 9 fill: 256 }"}, "fill is 256"},
      {{"photometric_distort { field: 'image' hue: [-0.6, 0] }"}, "from -0.5 to 0.5 are allowed"},
  };
  for (const auto& [steps, words] : cases) {
    EXPECT_THAT(compiled(steps).status().message(), HasSubstr(words));
  }
  EXPECT_TRUE(compiled({kFlip, "pad { field: 'boxes' length: 9 }"}).ok());
}

TEST(Masks, AMaskOfAnotherSizeThanItsPictureIsABadRecord) {
  std::vector<FieldType> with_mask = types();
  with_mask.push_back({.name = "mask", .shape = {{0, 0}, 2}, .of = "image", .mask = true});
  Sample sample = sample_of({0, 0, 20, 10}, {1});
  sample.tensors.push_back(tensor(shm::kUint8, {{10, 19}, 2}, std::vector<std::uint8_t>(190, 7)));
  for (const char* step : {kFlip, "random_iou_crop { field: 'image' overlaps: [0] }"}) {
    const auto chain = Chain::compile(stream_of({step}), with_mask);
    ASSERT_TRUE(chain.ok()) << chain.status().message();
    const auto scratch = chain.value()->make_scratch();
    std::vector<std::byte> row(4000);
    const std::span<std::byte> rows[] = {row, std::span(row).first(600), row,
                                         std::span(row).first(190)};
    std::uint64_t lengths[4] = {};
    EXPECT_THAT(chain.value()->run(sample, {}, *scratch, rows, lengths).message(),
                HasSubstr("field mask is a mask 10 high and 19 wide; its picture image is 10 high "
                          "and 20 wide"));
  }
}

// A sample with two boxes, the first one on the left, and their masks.
class ObjectMasks : public ::testing::Test {
 protected:
  ObjectMasks() {
    types_.push_back(decode::object_masks_type(8));
    types_.back().name = "masks";
    types_.back().of = "boxes";
    decode::ObjectRuns masks;
    masks.start({10, 20}, 2);
    masks.runs = {{0, 0, 2, 5}, {1, 14, 0, 10}, {1, 19, 9, 10}};
    store(masks, sample_.tensors.emplace_back());
  }

  // The masks of the row.
  Status run(const std::vector<std::string>& steps) {
    auto chain = Chain::compile(stream_of(steps), types_);
    if (!chain.ok()) return chain.status();
    const auto scratch = chain.value()->make_scratch();
    auto outputs = chain.value()->outputs_for(sample_);
    if (!outputs.ok()) return outputs.status();
    chain.value()->fix_outputs(*outputs);
    std::vector<std::vector<std::byte>> buffers;
    for (const FieldType& type : *outputs) {
      buffers.emplace_back(type.shape.elements() * shm::dtype_bytes(type.dtype));
    }
    const std::vector<std::span<std::byte>> rows(buffers.begin(), buffers.end());
    std::vector<std::uint64_t> lengths(rows.size());
    const Status status = chain.value()->run(sample_, {}, *scratch, rows, lengths);
    type_ = (*outputs)[3];
    row_ = buffers[3];
    if (type_.ragged) row_.resize(lengths[3]);
    return status;
  }
  std::size_t ones() const {
    return static_cast<std::size_t>(std::ranges::count(row_, std::byte{1}));
  }

  std::vector<FieldType> types_ = types();
  Sample sample_ = sample_of({0, 0, 5, 5, 12, 0, 20, 10}, {7, 8});
  FieldType type_;
  std::vector<std::byte> row_;
};

TEST_F(ObjectMasks, FollowTheirBoxesAndAreArraysAtTheEnd) {
  ASSERT_TRUE(run({}).ok());
  EXPECT_EQ(type_.dtype, shm::kUint8);
  EXPECT_EQ(type_.shape, (decode::Shape{{8, 10, 20}, 3}));
  EXPECT_EQ(row_.size(), 400U);
  EXPECT_EQ(ones(), 14U);
  ASSERT_TRUE(run({kFlip, "center_crop { field: 'image' size: [10, 10] }"}).ok());
  EXPECT_EQ(row_.size(), 100U);  // the first box is removed
  EXPECT_EQ(ones(), 10U);
  EXPECT_EQ(row_[0], std::byte{1});  // column 5 of the flipped picture
  const std::string resize = "resize { field: 'image' size: [20, 20] }";
  const std::string pad = "pad { field: 'masks' length: 3 value: 2 lengths: 'n' }";
  ASSERT_TRUE(run({resize, pad}).ok());
  EXPECT_FALSE(type_.ragged);
  EXPECT_EQ(type_.shape, (decode::Shape{{3, 20, 20}, 3}));
  EXPECT_EQ(ones(), 28U);
  EXPECT_EQ(row_.back(), std::byte{2});
  ASSERT_TRUE(run({resize, "pad { field: 'masks' length: 1 longer: 'cut' }"}).ok());
  EXPECT_EQ(ones(), 6U);
}

TEST_F(ObjectMasks, OfDifferentSizesNameTheImageThatHasToBeResized) {
  const auto chain = Chain::compile(stream_of({}), types_).value();
  RowShapes shapes(*chain);
  std::vector<FieldType> found = chain->outputs_for(sample_).value();
  ASSERT_TRUE(shapes.take(found).ok());
  found[3].shape.sizes[2] = 19;
  ASSERT_TRUE(shapes.take(found).ok());
  const Status refused = shapes.take(found);
  EXPECT_THAT(refused.message(), HasSubstr("field masks has rows of different shapes"));
  EXPECT_THAT(refused.message(), HasSubstr("resize: {field: image, size:"));
}

TEST_F(ObjectMasks, WithTooManyRunsForAMomentAreRefused) {
  decode::ObjectRuns masks;
  masks.start({2000, 1000}, 1);
  for (std::uint32_t column = 0; column < 1000; ++column) {
    for (std::uint32_t row = 0; row < 2000; row += 2) {
      masks.runs.push_back({0, column, row, row + 1});
    }
  }
  const auto moves = [](Mover& mover) {
    mover.scale({2000, 1000}, {2000, 1100});
    mover.move({}, {2000, 1100});  // 1,100,000 runs
    mover.cut(0, 0, {2000, 500});
  };
  ObjectScratch scratch;
  EXPECT_EQ(move_objects({2000, 1000}, moves, scratch, masks).code(), Code::kResourceExhausted);
}

TEST_F(ObjectMasks, WhatDoesNotFitIsRefused) {
  const auto refusal = [&](const std::vector<std::string>& steps) { return run(steps).message(); };
  EXPECT_THAT(refusal({"pad { field: 'masks' length: 3 }"}),
              HasSubstr("field masks has masks of any height and width here; put a crop"));
  const std::string resize = "resize { field: 'image' size: [20, 20] }";
  EXPECT_THAT(refusal({resize, "pad { field: 'masks' length: 3 }", kFlip}),
              HasSubstr("masks has one length since pad"));
  EXPECT_THAT(refusal({"plugin { library: 'x' step: 'y' }"}),
              HasSubstr("field masks has masks of objects, which are runs of pixels"));
  EXPECT_THAT(refusal({"python { file: 'x.py' function: 'f' fields: ['image'] sample_bytes: 9999 "
                       "out { key: 'masks' value { as: 'uint8' shape: [3, 10, 20] } } }"}),
              HasSubstr("field masks has masks of objects, which only pad makes an array"));
  sample_.tensors[1] = tensor(shm::kUint8, {{10, 19, 3}, 3}, std::vector<std::uint8_t>(570, 7));
  for (const char* step : {kFlip, "random_iou_crop { field: 'image' overlaps: [0] }"}) {
    EXPECT_THAT(refusal({step}), HasSubstr("masks of objects 10 high and 20 wide; their picture is "
                                           "10 high and 19 wide"));
  }
  sample_.tensors[2] = tensor(shm::kInt64, {{1}, 1}, std::vector<std::int64_t>{7});
  sample_.tensors[0] = tensor(shm::kFloat32, {{1, 4}, 2}, std::vector<float>{0, 0, 5, 5});
  EXPECT_THAT(refusal({kFlip}), HasSubstr("1 boxes have 2 labels or other elements"));
}

TEST(Boxes, TheCropByOverlapEndsWithoutAFittingCrop) {
  // No crop of half the sides has an overlap of 0.99 with a box as large as the picture.
  const IouCropSettings settings{
      .scale = {0.5, 0.5}, .ratio = {0.5, 2}, .overlaps = {0.99}, .tries = 40};
  const std::vector<float> corners = {0, 0, 20, 10};
  EXPECT_EQ(random_iou_crop_box({}, 1, 10, 20, corners, settings), (Box{0, 0, 10, 20}));
}

}  // namespace
}  // namespace echoline::augment
