// Several crops of one picture: their fields, their pixels, the draws of later steps, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "augment/chain.h"
#include "augment/image_type.h"
#include "augment/steps.h"

namespace echoline::augment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kCrops[] =
    "multi_crop { field: 'image' "
    "crops { key: 'local' value { size: 8 count: 2 scale: [0.05, 0.25] } } "
    "crops { key: 'global' value { size: [24, 16] count: 2 scale: [0.25, 1] } } }";

// `crop`: the number of the image among several crops.
std::vector<decode::FieldType> types(std::uint8_t crop = 0) {
  decode::FieldType image = image_type(3);
  image.crop = crop;
  return {{.name = "id", .dtype = shm::kInt64, .fixed = true, .shape = {}},
          image,
          {.name = "label", .dtype = shm::kInt64, .fixed = true, .shape = {}}};
}

decode::Sample sample() {
  decode::Sample made;
  made.tensors.resize(3);
  for (decode::Tensor& tensor : made.tensors) {
    tensor.dtype = shm::kInt64;
    tensor.bytes.resize(sizeof(std::int64_t));
    const std::int64_t number = &tensor - made.tensors.data();
    std::memcpy(tensor.bytes.data(), &number, sizeof number);
  }
  decode::Tensor& image = made.tensors[1];
  image.dtype = shm::kUint8;
  image.shape = {{40, 50, 3}, 3};
  image.bytes.resize(image.shape.elements());
  std::uint32_t value = 1;
  for (std::byte& byte : image.bytes.span()) {
    value = value * 1664525 + 1013904223;
    byte = static_cast<std::byte>(value >> 24);
  }
  return made;
}

// The rows that the steps make, by field.
std::map<std::string, std::string> made(const std::vector<std::string>& steps,
                                        std::uint64_t sample_id, std::uint8_t crop = 0) {
  const auto chain = Chain::compile(stream_of(steps), types(crop));
  if (!chain.ok()) ADD_FAILURE() << chain.status().message();
  std::map<std::string, std::string> rows;
  std::vector<std::span<std::byte>> spans;
  for (const decode::FieldType& type : chain.value()->outputs()) {
    EXPECT_TRUE(type.fixed) << type.name;
    std::string& row = rows[type.name];
    row.resize(type.shape.elements() * shm::dtype_bytes(type.dtype));
    spans.push_back(std::as_writable_bytes(std::span(row)));
  }
  std::vector<std::uint64_t> lengths(spans.size());
  const auto scratch = chain.value()->make_scratch();
  const Status status =
      chain.value()->run(sample(), {.seed = 7, .sample = sample_id}, *scratch, spans, lengths);
  EXPECT_TRUE(status.ok()) << status.message();
  return rows;
}

TEST(MultiCrop, TakesThePlaceOfTheImageInTheOrderOfTheNames) {
  const auto chain = Chain::compile(stream_of({kCrops}), types());
  ASSERT_TRUE(chain.ok()) << chain.status().message();
  std::vector<std::string> names;
  for (const decode::FieldType& type : chain.value()->outputs()) names.push_back(type.name);
  EXPECT_THAT(names, ElementsAre("id", "label", "global_0", "global_1", "local_0", "local_1"));
  EXPECT_EQ(chain.value()->outputs()[2].shape, (decode::Shape{{24, 16, 3}, 3}));
  EXPECT_EQ(chain.value()->outputs()[5].shape, (decode::Shape{{8, 8, 3}, 3}));
  auto rows = made({kCrops}, 1);
  EXPECT_EQ(rows["id"][0], 0);
  EXPECT_EQ(rows["label"][0], 2);
}

// A crop draws as random_resized_crop does, with its number in the key; so do later steps.
TEST(MultiCrop, EachCropHasThePixelsOfTheSameStepsWithDrawsOfItsOwn) {
  const auto steps_of = [](const std::string& field) {
    return std::vector<std::string>{
        "horizontal_flip { field: '" + field + "' }",
        "color_jitter { field: '" + field + "' brightness: 0.4 hue: 0.1 }",
        "normalize { field: '" + field + "' mean: [0.5, 0.4, 0.3] std: [0.2, 0.2, 0.2] }"};
  };
  const auto joined = [](std::vector<std::string> first, const std::vector<std::string>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  const std::vector<std::string> all = joined({kCrops}, steps_of("global"));
  const std::vector<std::string> alone =
      joined({"random_resized_crop { field: 'image' size: [24, 16] scale: [0.25, 1] }"},
             steps_of("image"));
  for (std::uint64_t sample = 0; sample < 8; ++sample) {
    auto rows = made(all, sample);
    EXPECT_EQ(rows["global_0"], made(alone, sample)["image"]);
    const auto local =
        made({"random_resized_crop { field: 'image' size: 8 scale: [0.05, 0.25] }"}, sample, 3);
    EXPECT_EQ(rows["local_1"], local.at("image"));
    EXPECT_NE(rows["global_0"], rows["global_1"]);
    EXPECT_NE(rows["local_0"], rows["local_1"]);
  }
}

TEST(MultiCrop, TheNameOfOneCropChangesOnlyThisOne) {
  auto before = made({kCrops}, 3);
  auto after = made({kCrops, "invert { field: 'global_1' probability: 1 }"}, 3);
  for (char& value : before["global_1"]) value = static_cast<char>(~value);
  EXPECT_EQ(before, after);
}

TEST(MultiCrop, WrongSettingsAreRefusedWithKeyAndAllowedValues) {
  const auto crops = [](const std::string& name, const std::string& settings) {
    return "multi_crop { field: 'image' crops { key: '" + name + "' value { " + settings + " } } }";
  };
  const std::vector<std::pair<std::vector<std::string>, std::string>> kCases = {
      {{"multi_crop { field: 'image' }"}, "crops is empty"},
      {{"multi_crop { field: 'label' }"}, "field label is no image"},
      {{crops("a", "count: 2")}, "crops.a: "},
      {{crops("a", "size: 8 count: 65")}, "crops.a: count is 65; all crops together: 1 to 64"},
      {{crops("a", "size: 8 scale: [1, 0.1]")}, "crops.a: scale"},
      {{crops("label", "size: 8")}, "crops.label: a field has this name"},
      {{crops("a b", "size: 8")}, "is no field name"},
      {{crops("a", "size: 8"), "multi_crop { field: 'a_0' crops { key: 'b' value { size: 4 } } }"},
       "field a_0 is one of several crops already"},
      {{crops("a", "size: 8"), "invert { field: 'image' }"}, "the fields are: id, label, a_0"},
  };
  for (const auto& [steps, words] : kCases) {
    const auto chain = Chain::compile(stream_of(steps), types());
    ASSERT_FALSE(chain.ok()) << words;
    EXPECT_THAT(chain.status().message(), HasSubstr(words));
  }
  std::vector<decode::FieldType> boxes = types();
  boxes.push_back({.name = "boxes", .dtype = shm::kFloat32, .ragged = true, .shape = {{9, 4}, 2}});
  boxes.back().of = "image";
  EXPECT_THAT(Chain::compile(stream_of({kCrops}), boxes).status().message(),
              HasSubstr("field boxes belongs to image and cannot follow several crops of it"));
}

}  // namespace
}  // namespace echoline::augment
