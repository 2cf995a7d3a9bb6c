// Files of annotations: boxes, labels and flags, and the reasons why a record is bad.
#include "decode/annotations.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "decode/decode_one.h"
#include "decode/object_runs.h"

namespace echoline::decode {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string corners(const char* x1, const char* y1, const char* x2, const char* y2) {
  return fmt::format(
      "<bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox>", x1, y1, x2,
      y2);
}

std::string object(const std::string& name, const std::string& content) {
  return "<object><name>" + name + "</name>" + content + "</object>";
}

std::string voc(const std::string& objects) {
  return "<annotation><folder>x</folder><size><width>9</width></size>" + objects + "</annotation>";
}

const std::string kBox = corners("1", "2", "3", "4");

// Decodes a record of one file, with several fields made of it.
class Fields {
 public:
  Fields(const std::string& step, std::string key) : key_(std::move(key)) {
    v1::Decode decode;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(step, &decode)) << step;
    auto compiled = Decoder::compile(decode);
    status_ = compiled.status();
    if (!compiled.ok()) return;
    decoder_ = std::move(compiled).value();
    scratch_ = decoder_->make_scratch();
  }

  const std::string& refusal() const { return status_.message(); }
  const Decoder& decoder() const { return *decoder_; }
  Status decode(const std::string& file, const std::string& png = {}) {
    file_ = file;
    png_ = png;
    record_.fields = {{key_, bytes_of(file_)}};
    if (!png.empty()) record_.fields.push_back({"png", bytes_of(png_)});
    return decoder_->decode(record_, *scratch_, sample_);
  }
  template <typename T>
  std::vector<T> values(std::size_t field) const {
    const auto content = sample_.tensors[field].content();
    std::vector<T> made(content.size() / sizeof(T));
    if (!made.empty()) std::memcpy(made.data(), content.data(), content.size());
    return made;
  }
  const Shape& shape(std::size_t field) const { return sample_.tensors[field].shape; }

 private:
  const std::string key_;
  Status status_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Scratch> scratch_;
  std::string file_;
  std::string png_;
  record::Fields record_;
  Sample sample_;
};

std::string field(const std::string& name, const std::string& entry) {
  return "fields { key: '" + name + "' value { " + entry + " } } ";
}

const std::string kVoc = field("boxes", "key: 'xml' as: 'voc_boxes' max_objects: 3") +
                         field("difficult", "key: 'xml' as: 'voc_difficult' max_objects: 3") +
                         field("labels",
                               "key: 'xml' as: 'voc_labels' classes: ['cat', 'a dog'] "
                               "max_objects: 3");
const std::string kCoco = field("boxes", "key: 'json' as: 'coco_boxes'") +
                          field("iscrowd", "key: 'json' as: 'coco_iscrowd'") +
                          field("labels", "key: 'json' as: 'coco_labels'");

TEST(Voc, HasBoxesLabelsAndFlagsInTheOrderOfTheFile) {
  Fields fields(kVoc, "xml");
  EXPECT_EQ(fields.decoder().fields()[2].of, "boxes");
  ASSERT_TRUE(fields
                  .decode(voc(object("a dog", "<difficult>1</difficult>" +
                                                  corners("1", " 2.5\n", "30", "40")) +
                              object(" cat ", "<part><name>head</name>" +
                                                  corners("5", "6", "7", "8") + "</part>" + kBox)))
                  .ok());
  EXPECT_EQ(fields.shape(0), (Shape{{2, 4}, 2}));
  EXPECT_THAT(fields.values<float>(0), ElementsAre(1, 2.5, 30, 40, 1, 2, 3, 4));
  EXPECT_THAT(fields.values<std::uint8_t>(1), ElementsAre(1, 0));
  EXPECT_THAT(fields.values<std::int64_t>(2), ElementsAre(1, 0));
  ASSERT_TRUE(fields.decode(voc("")).ok());
  EXPECT_EQ(fields.shape(0), (Shape{{0, 4}, 2}));
  EXPECT_EQ(fields.shape(2), (Shape{{0}, 1}));
}

TEST(Voc, ABadFileIsRefusedWithAReason) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  const std::string bomb =
      "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\">]>";
  const std::string many = object("cat", kBox);
  const std::pair<std::string, const char*> cases[] = {
      {voc(object("cow", kBox)), "\"cow\" is not among the classes"},
      {voc(object("cat", "")), "object 0 has no complete <bndbox>"},
      {voc("<object>" + kBox + "</object>"), "object 0 has no <name>"},
      {voc(many + object("cat", corners("3", "2", "1", "4"))), "object 1 has a box with reversed"},
      {voc(object("cat", corners("1", "x", "3", "4"))), "object 0 has the ymin \"x\""},
      {voc(object("cat", corners("1", "nan", "3", "4"))), "object 0 has a box with the corner nan"},
      {voc(object(std::string(5000, 'x'), kBox)), "a <name> of more than 256 bytes"},
      {voc(many + many + many + many), "more than 3 objects; max_objects allows more"},
      {voc(deep), "more than 32 levels"},
      {bomb + voc(object("&b;", kBox)), "the XML has a DOCTYPE"},
      {voc(many).substr(0, 90), "no valid XML: "},
      {"", "no valid XML: no element found in line 1"},
      {"<html></html>", "the XML is a <\"html\">"},
  };
  Fields fields(kVoc, "xml");
  for (const auto& [file, reason] : cases) {
    EXPECT_THAT(fields.decode(file).message(), HasSubstr(reason)) << file.substr(0, 300);
    EXPECT_TRUE(fields.decode(voc(many)).ok()) << "after " << reason;
  }
}

TEST(Coco, IsAListOfAnnotationsOrAnObjectWithOne) {
  Fields fields(kCoco, "json");
  const std::string list =
      R"([{"bbox": [1, 2.5, 10, 20], "category_id": 18, "segmentation": [[1, 2, 3, 4]]},)"
      R"({"iscrowd": 1, "category_id": 7, "segmentation": {"counts": [1], "size": [2, 3]},)"
      R"("bbox": [0, 0, 0, 0], "area": 12}])";
  for (const std::string& file :
       {list, R"({"image": {"id": [3]}, "annotations": )" + list + R"(, "x": [{"bbox": 1}]})"}) {
    const Status status = fields.decode(file);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(fields.values<float>(0), ElementsAre(1, 2.5, 11, 22.5, 0, 0, 0, 0));
    EXPECT_THAT(fields.values<std::uint8_t>(1), ElementsAre(0, 1));
    EXPECT_THAT(fields.values<std::int64_t>(2), ElementsAre(18, 7));
  }
  ASSERT_TRUE(fields.decode("[]").ok());
  EXPECT_EQ(fields.shape(0), (Shape{{0, 4}, 2}));
}

TEST(Coco, ClassesMapNumbersOrNamesToTheirPositions) {
  Fields fields(field("l", "key: 'json' as: 'coco_labels' classes: ['18', 'cat', '7']"), "json");
  ASSERT_TRUE(fields
                  .decode(R"([{"bbox": [1, 2, 3, 4], "category_id": 7, "category_name": "cat"},)"
                          R"({"bbox": [1, 2, 3, 4], "category_name": "cat"}])")
                  .ok());
  EXPECT_THAT(fields.values<std::int64_t>(0), ElementsAre(2, 1));
  EXPECT_THAT(fields.decode(R"([{"bbox": [1, 2, 3, 4], "category_id": 8}])").message(),
              HasSubstr("\"8\" is not among the classes"));
}

TEST(Coco, ABadFileIsRefusedWithAReason) {
  std::string many = "[";
  for (int i = 0; i < 1'000'000; ++i) many += R"({"bbox":[1,2,3,4],"category_id":1},)";
  const std::pair<std::string, const char*> cases[] = {
      {R"([{"bbox": [1, 2, 3, 4], "categ)", "no valid JSON from byte"},
      {"", "no valid JSON"},
      {"{}", "the JSON is no list of annotations"},
      {"3", "the JSON is no list of annotations"},
      {"[1]", "an element that is no object"},
      {"[[]]", "an element that is no object"},
      {R"([{"category_id": 1}])", "annotation 0 has no bbox"},
      {R"([{"bbox": [1, 2, 3, 4]}])", "annotation 0 has neither category_id nor category_name"},
      {R"([{"bbox": [1, 2, 3], "category_id": 1}])", "annotation 0 has a bbox that is not four"},
      {R"([{"bbox": [1, 2, 3, 4, 5], "category_id": 1}])", "has a bbox that is not four numbers"},
      {R"([{"bbox": [[1, 2], 3, 4, 5], "category_id": 1}])", "has a bbox that is not four numbers"},
      {R"([{"bbox": {"a": [1, 2, 3, 4]}, "category_id": 1}])", "annotation 0 has no bbox"},
      {R"([{"bbox": [1, 2, -3, 4], "category_id": 1}])", "object 0 has a box with reversed"},
      {R"([{"bbox": [1, 2, 1e300, 4], "category_id": 1}])", "object 0 has a box with the corner"},
      {R"({"x": )" + std::string(100000, '['), "more than 32 levels"},
      {many, "more than 256 objects; max_objects allows more"},
  };
  Fields fields(kCoco, "json");
  for (const auto& [file, reason] : cases) {
    EXPECT_THAT(fields.decode(file).message(), HasSubstr(reason)) << file.substr(0, 300);
  }
}

// A file with one annotation that has this, too.
std::string annotated(const std::string& more) {
  return R"([{"bbox": [1, 2, 3, 4], "category_id": 3, )" + more + "}]";
}

TEST(KeyPoints, BelongToTheBoxesOfTheirFile) {
  Fields fields(kCoco + field("points", "key: 'json' as: 'coco_keypoints' points: 2"), "json");
  EXPECT_EQ(fields.decoder().fields()[3].of, "boxes");
  ASSERT_TRUE(fields.decode(annotated(R"("keypoints": [1, 2.5, 2, 0, 0, 0])")).ok());
  EXPECT_EQ(fields.shape(3), (Shape{{1, 2, 3}, 3}));
  EXPECT_THAT(fields.values<float>(3), ElementsAre(1, 2.5, 2, 0, 0, 0));
  for (const char* none :
       {R"("area": 1)", R"("keypoints": [1, 2, 3])", R"("keypoints": 6)",
        R"("keypoints": [[1, 2, 3, 4, 5, 6]])", R"("keypoints": {"a": [1, 2, 3, 4, 5, 6]})",
        R"("keypoints": [1, 2, 3, "4", 5, 6, 7])"}) {
    EXPECT_THAT(fields.decode(annotated(none)).message(),
                HasSubstr("numbers as keypoints; 2 points have 6"))
        << none;
  }
  EXPECT_THAT(fields.decode(annotated(R"("keypoints": [1e9, 2, 2, 0, 0, 0])")).message(),
              HasSubstr("annotation 0 has a key point with the number 1000000000"));
}

TEST(KeyPoints, PairsNameEachPointOnce) {
  const auto refusal = [](const std::string& more) {
    return Fields(kCoco + field("p", "key: 'json' as: 'coco_keypoints' " + more), "json").refusal();
  };
  EXPECT_EQ(refusal("pairs: [1, 2, 16, 3]"), "");
  EXPECT_THAT(refusal("pairs: [1, 17]"), HasSubstr("pairs has 17; each of the points 0 to 16"));
  EXPECT_THAT(refusal("pairs: [1, 2, 1, 3]"), HasSubstr("pairs has 1; each of the points"));
  EXPECT_THAT(refusal("pairs: [1, 2, 3]"), HasSubstr("pairs has a point without another one"));
  EXPECT_THAT(Fields(field("p", "key: 'json' as: 'coco_keypoints'"), "json").refusal(),
              HasSubstr("of is missing: the boxes of the objects"));
  EXPECT_THAT(Fields(field("p", "key: 'x' as: 'keypoints' shape: [9, 4]"), "x").refusal(),
              HasSubstr("[largest number of objects, points, 3]"));
}

TEST(Masks, ABadSegmentationIsRefusedWithAReasonAndOnlyWhereItIsNeeded) {
  const std::string image = field("image", "key: 'png' as: 'gray'");
  Fields fields(image + field("mask", "key: 'json' as: 'coco_mask'"), "json");
  EXPECT_EQ(fields.decoder().fields()[1].of, "image");
  Fields objects(image + field("objects", "key: 'json' as: 'coco_object_masks' of: 'image'"),
                 "json");
  Fields boxes(kCoco, "json");
  std::string zigzag = "[[0, 0";
  for (int i = 0; i < 300'000; ++i) zigzag += i % 2 == 0 ? ", 40, 1" : ", 0, 1";
  const std::pair<std::string, const char*> cases[] = {
      {R"("area": 1)", "annotation 0 has no segmentation"},
      {R"("segmentation": [])", "annotation 0 has no segmentation"},
      {R"("segmentation": 3)", "annotation 0 has no segmentation"},
      {R"("segmentation": [1, 2])", "neither polygons nor run lengths"},
      {R"("segmentation": [["a"]])", "neither polygons nor run lengths"},
      {R"("segmentation": [[[1]]])", "neither polygons nor run lengths"},
      {R"("segmentation": {"counts": [5, 795]})", "neither polygons nor run lengths"},
      {R"("segmentation": {"size": [20, 40]})", "neither polygons nor run lengths"},
      {R"("segmentation": {"size": [20, 40], "counts": null})", "neither polygons nor run lengths"},
      {R"("segmentation": [[1, 2, 3, 4, 5]])", "a polygon of 5 numbers"},
      {R"("segmentation": [[1, 2, 3, 4]])", "a polygon of 4 numbers"},
      {R"("segmentation": [[1, 2, 3, 4, 5, -1e8]])", "a polygon with the number -100000000"},
      {R"("segmentation": {"size": [40, 20], "counts": [5, 795]})",
       "run lengths for a picture 40 high and 20 wide; it is 20 high and 40 wide"},
      {R"("segmentation": {"size": [20, 40], "counts": [5, 796]})", "not those of all pixels"},
      {R"("segmentation": {"size": [20, 40], "counts": [5, 794]})", "not those of all pixels"},
      {R"("segmentation": {"size": [20, 40], "counts": [5, -1, 796]})", "not those of all pixels"},
      {R"("segmentation": {"size": [20, 40], "counts": [0.5, 799.5]})", "not those of all pixels"},
      {R"("segmentation": {"size": [20, 40], "counts": "ooooooooooo"})", "not those of all pixels"},
      {R"("segmentation": {"size": [20, 40], "counts": "!!"})", "not those of all pixels"},
      {R"("segmentation": )" + zigzag + "]]", "polygons that cross too many columns"},
  };
  const std::string png = made_png(20, 40);
  for (const auto& [more, reason] : cases) {
    EXPECT_THAT(fields.decode(annotated(more), png).message(), HasSubstr(reason))
        << more.substr(0, 99);
    EXPECT_THAT(objects.decode(annotated(more), png).message(), HasSubstr(reason));
    EXPECT_TRUE(boxes.decode(annotated(more)).ok()) << more.substr(0, 99);
  }
  ASSERT_TRUE(
      fields.decode(annotated(R"("segmentation": {"size": [20, 40], "counts": [1, 2, 797]})"), png)
          .ok());
  EXPECT_EQ(fields.shape(1), (Shape{{20, 40}, 2}));
  EXPECT_EQ(fields.values<std::uint8_t>(1)[40], 3);  // the second row of the first column
}

TEST(ObjectMasks, BelongToBoxesOfAnImageOrToAnImage) {
  const std::string image = field("image", "key: 'png' as: 'gray'");
  const std::string masks = field("masks", "key: 'json' as: 'coco_object_masks'");
  const auto refusal = [](const std::string& step) { return Fields(step, "json").refusal(); };
  EXPECT_THAT(refusal(image + masks), HasSubstr("of is missing: the boxes of the objects"));
  EXPECT_THAT(
      refusal(kCoco + masks),
      HasSubstr("field masks has masks of the objects of boxes, which belongs to no image"));
  EXPECT_THAT(refusal(kCoco + image + field("m", "key: 'x' as: 'object_masks' shape: [9, 9]")),
              HasSubstr("object_masks has no shape; max_objects is its largest length"));
  Fields fields(image + kCoco + masks + field("numbers", "key: 'png' as: 'object_masks'"), "json");
  EXPECT_EQ(fields.decoder().fields()[4].of, "boxes");
  EXPECT_EQ(fields.decoder().fields()[5].of, "boxes");
  Fields other(image + field("boxes", "key: 'json' as: 'coco_boxes'") +
                   field("masks", "key: 'json' as: 'coco_object_masks' max_objects: 1"),
               "json");
  const std::string one =
      R"({"bbox": [1, 2, 3, 4], "category_id": 3, "segmentation": [[1, 1, 5, 1, 5, 6]]})";
  const std::string png = made_png(20, 40);
  ASSERT_TRUE(other.decode("[" + one + "]", png).ok());
  EXPECT_EQ(other.values<std::uint32_t>(2)[0], 1U);
  EXPECT_EQ(other.values<std::uint32_t>(2)[1], 20U);
  EXPECT_EQ(other.values<std::uint32_t>(2)[2], 40U);
  EXPECT_THAT(other.decode("[" + one + "," + one + "]", png).message(),
              HasSubstr("more than 1 objects"));
}

// A file of another host can have any bytes.
TEST(ObjectMasks, OfOtherBytesAreRefused) {
  using Numbers = std::vector<std::uint32_t>;
  const auto loaded = [](const Numbers& numbers) {
    Tensor tensor;
    tensor.borrowed = std::as_bytes(std::span(numbers));
    ObjectRuns masks;
    return load(tensor, masks).message();
  };
  EXPECT_EQ(loaded({2, 5, 9, 0, 0, 8, 0, 5, 1, 0, 2, 3}), "");
  EXPECT_THAT(loaded({}), HasSubstr("no first row"));
  EXPECT_THAT(loaded({2, 5, 9}), HasSubstr("no first row"));
  EXPECT_THAT(loaded({1U << 25, 5, 9, 0}), HasSubstr("an impossible size"));
  EXPECT_THAT(loaded({1, 1U << 31, 1U << 31, 0}), HasSubstr("an impossible size"));
  for (const Numbers& run : {Numbers{2, 0, 0, 1}, {0, 9, 0, 1}, {0, 0, 2, 6}, {0, 0, 2, 2}}) {
    Numbers numbers = {2, 5, 9, 0};
    numbers.insert(numbers.end(), run.begin(), run.end());
    EXPECT_THAT(loaded(numbers), HasSubstr("pixels outside of their picture"));
  }
  EXPECT_THAT(loaded({2, 5, 9, 0, 1, 0, 2, 3, 0, 8, 0, 5}), HasSubstr("runs out of order"));
  EXPECT_THAT(loaded({2, 5, 9, 0, 1, 0, 0, 3, 1, 0, 2, 5}), HasSubstr("runs out of order"));
}

TEST(Masks, HaveClassesThatFitAndASizeThatIsThatOfTheirPicture) {
  const std::string image = field("image", "key: 'png' as: 'gray'");
  const std::string runs = R"("segmentation": {"size": [20, 40], "counts": [800]})";
  const auto decoded = [&](const std::string& entry, const std::string& file) {
    return Fields(image + field("mask", entry), "json").decode(file, made_png(20, 40)).message();
  };
  EXPECT_EQ(decoded("key: 'json' as: 'coco_mask'", annotated(runs)), "");
  EXPECT_THAT(decoded("key: 'json' as: 'coco_mask' classes: ['1']", annotated(runs)),
              HasSubstr("\"3\" is not among the classes"));
  const std::string large = R"([{"bbox": [1, 2, 3, 4], "category_id": 256, )" + runs + "}]";
  EXPECT_THAT(decoded("key: 'json' as: 'coco_mask'", large),
              HasSubstr("annotation 0 has the class 256; 0 to 255 is allowed with coco_mask"));
  EXPECT_EQ(decoded("key: 'json' as: 'coco_mask16'", large), "");
  EXPECT_THAT(decoded("key: 'json' as: 'mask'", made_png(20, 40)), HasSubstr("has colours"));
  EXPECT_THAT(Fields(image + field("m", "key: 'x' as: 'mask' ignore: 256"), "x").refusal(),
              HasSubstr("ignore is 256; 0 to 255 is allowed with mask"));
  EXPECT_THAT(Fields(field("m", "key: 'x' as: 'mask'"), "x").refusal(),
              HasSubstr("of is missing: the image that the mask belongs to"));
}

TEST(Yolo, HasSharesOfThePicture) {
  Fields fields(field("boxes", "key: 'txt' as: 'yolo_boxes'") +
                    field("image", "key: 'png' as: 'gray'") +
                    field("labels", "key: 'txt' as: 'yolo_labels'"),
                "txt");
  EXPECT_EQ(fields.decoder().fields()[0].of, "image");
  const std::string png = made_png(40, 80);
  ASSERT_TRUE(fields.decode("2 0.5 0.5 0.25 1\r\n\n0 0.125 0.25 0.25 0.5", png).ok());
  EXPECT_THAT(fields.values<float>(0), ElementsAre(30, 0, 50, 40, 0, 0, 20, 20));
  EXPECT_THAT(fields.values<std::int64_t>(2), ElementsAre(2, 0));
  ASSERT_TRUE(fields.decode("\n", png).ok());
  EXPECT_EQ(fields.shape(0), (Shape{{0, 4}, 2}));
  EXPECT_THAT(fields.decode("1 0.5 0.5 0.25", png).message(), HasSubstr("line 1 is neither a box"));
  EXPECT_THAT(fields.decode("1 2 3 4 x", png).message(), HasSubstr("line 1 is neither a box"));
  EXPECT_THAT(fields.decode("x 0 0 0 0", png).message(), HasSubstr("number of a class: \"x 0 0"));
  EXPECT_THAT(fields.decode("1 0 0 -1 0", png).message(), HasSubstr("reversed corners"));
  EXPECT_THAT(fields.decode("1 3 3 0.1 0.1", png).message(),
              HasSubstr("object 0 has the box [236, 118, 244, 122] outside of the picture, which "
                        "is 40 high and 80 wide"));
}

TEST(Yolo, AnOutlineHasItsBoundsAsBoxAndAMaskNeedsOutlines) {
  Fields fields(field("boxes", "key: 'txt' as: 'yolo_boxes'") +
                    field("image", "key: 'png' as: 'gray'") +
                    field("labels", "key: 'txt' as: 'yolo_labels'"),
                "txt");
  const std::string png = made_png(40, 80);
  const std::string outline = "254 0.5 0.25 0.75 0.5 0.25 1\n";
  ASSERT_TRUE(fields.decode(outline + "2 0.5 0.5 0.25 1", png).ok());
  EXPECT_THAT(fields.values<float>(0), ElementsAre(20, 10, 60, 40, 30, 0, 50, 40));
  EXPECT_THAT(fields.values<std::int64_t>(2), ElementsAre(254, 2));
  for (const char* line : {"1 0 0 0 0 1", "1 0 0 0 0 1 1 1", "1 0 0 1 1 1 nan", "1 0 0 1 1 1 0x"}) {
    EXPECT_THAT(fields.decode(outline + line, png).message(),
                HasSubstr("line 2 is neither a box, `class centre_x centre_y width height`, nor an "
                          "outline"))
        << line;
  }

  Fields masks(
      field("image", "key: 'png' as: 'gray'") + field("mask", "key: 'txt' as: 'yolo_mask'"), "txt");
  ASSERT_TRUE(masks.decode(outline, png).ok());
  EXPECT_EQ(masks.shape(1), (Shape{{40, 80}, 2}));
  EXPECT_EQ(masks.values<std::uint8_t>(1)[20 * 80 + 40], 255);
  ASSERT_TRUE(masks.decode("", png).ok());
  EXPECT_THAT(masks.values<std::uint8_t>(1), Each(0));
  EXPECT_THAT(masks.decode(outline + "2 0.5 0.5 0.25 1", png).message(),
              HasSubstr("object 1 has a box; a mask needs its outline"));
  EXPECT_THAT(masks.decode("255 0 0 0 1 1 1", png).message(),
              HasSubstr("annotation 0 has the class 255; 0 to 254 is allowed with yolo_mask"));
  EXPECT_THAT(masks.decode("1 0 0 0 1 1 1e6", png).message(),
              HasSubstr("a polygon with the number 40000000"));
}

TEST(Relations, RawArraysBelongToWhatTheySay) {
  const std::string image = field("image", "key: 'png' as: 'gray'");
  const std::string boxes =
      field("b", "key: 'bin' as: 'float32' shape: [9, 4] ragged: true of: 'image'");
  const auto refusal = [](const std::string& step) { return Fields(step, "bin").refusal(); };
  EXPECT_EQ(refusal(image + boxes), "");
  EXPECT_THAT(refusal(boxes), HasSubstr("field b: of is \"image\", which is not decoded"));
  EXPECT_THAT(
      refusal(image + field("l", "key: 'x' as: 'int64' shape: [9] ragged: true of: 'image'")),
      HasSubstr("field l: of is \"image\"; boxes, float32 [n, 4], and masks belong to an image"));
  EXPECT_THAT(refusal(image + field("l", "key: 'x' as: 'int64' of: 'image'")),
              HasSubstr("of is for boxes, masks, and rows of different lengths"));
  EXPECT_THAT(refusal(field("b", "key: 'txt' as: 'yolo_boxes'")), HasSubstr("of is missing"));
  EXPECT_THAT(refusal(field("l", "key: 'xml' as: 'voc_labels'")), HasSubstr("classes is missing"));
  EXPECT_THAT(refusal(field("l", "key: 'json' as: 'coco_labels' classes: ['a', 'b', 'a']")),
              HasSubstr("classes has \"a\" twice"));

  Fields labelled(
      image + boxes + field("l", "key: 'bin' as: 'float32' shape: [40] ragged: true of: 'b'"),
      "bin");
  EXPECT_THAT(labelled.decode(std::string(16, '\0'), made_png(4, 4)).message(),
              HasSubstr("field l has 4 elements for 1 boxes of b"));
}

}  // namespace
}  // namespace echoline::decode
