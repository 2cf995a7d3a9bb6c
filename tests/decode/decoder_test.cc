// The whole step: order of fields, missing files, valid and invalid settings, no allocations.
#include "decode/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decode/allocations.h"
#include "decode/decode_one.h"

namespace echoline::decode {
namespace {

using ::testing::HasSubstr;

v1::Decode step_of(const std::string& text) {
  v1::Decode step;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &step));
  return step;
}

constexpr char kThree[] =
    "fields { key: 'zebra' value { key: 'cls' as: 'int64' } }"
    "fields { key: 'image' value { key: 'jpg;jpeg;png' as: 'rgb' } }"
    "fields { key: 'caption' value { key: 'txt' as: 'text' } }";

TEST(Decoder, FieldsAreInTheOrderOfTheirNames) {
  const auto decoder = Decoder::compile(step_of(kThree));
  ASSERT_TRUE(decoder.ok());
  std::vector<std::string> names;
  for (const FieldType& field : decoder.value()->fields()) names.push_back(field.name);
  EXPECT_EQ(names, (std::vector<std::string>{"caption", "image", "zebra"}));
}

TEST(Decoder, AMissingFileIsNamedWithWhatTheRecordHas) {
  const auto decoder = Decoder::compile(step_of(kThree));
  const auto scratch = decoder.value()->make_scratch();
  const std::string png = made_png(4, 4);
  record::Fields record;
  record.fields = {{"txt", {}}, {"png", bytes_of(png)}};
  Sample sample;
  const Status status = decoder.value()->decode(record, *scratch, sample);
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("field zebra (cls)"));
  EXPECT_THAT(status.message(), HasSubstr("txt, png"));
}

TEST(Decoder, TheFirstKeyThatTheRecordHasIsTaken) {
  OneField value("key: 'a;b' as: 'int32'");
  EXPECT_TRUE(value.decode("1", "a").ok());
  EXPECT_TRUE(value.decode("2", "b").ok());
  EXPECT_EQ(value.decode("3", "c").code(), Code::kNotFound);
}

TEST(Decoder, InvalidSettingsAreRefusedByName) {
  const std::pair<const char*, const char*> kCases[] = {
      {"as: 'rgb'", "key is missing"},
      {"key: 'x' as: 'color'", "as is \"color\"; allowed are rgb, gray"},
      {"key: 'x' as: 'float16'", "allowed are"},
      {"key: 'x' as: 'int64' exif: true", "exif is for images"},
      {"key: 'x' as: 'text' shape: [3]", "text has no shape"},
      {"key: 'x' as: 'rgb' shape: [3]", "[height, width]"},
      {"key: 'x' as: 'uint8' shape: [3, 0]", "size of 0"},
      {"key: 'x' as: 'uint8' shape: [1, 1, 1, 1, 1, 1, 1]", "at most 6"},
      {"key: 'x' as: 'float64' shape: [65536, 65536]", "more than 2 GiB"},
      {"key: 'x' as: 'bytes' max_bytes: 5000000000", "less than 4 GiB"},
  };
  for (const auto& [entry, words] : kCases) {
    const auto decoder = Decoder::compile(decode_step(entry));
    ASSERT_FALSE(decoder.ok()) << entry;
    EXPECT_EQ(decoder.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(decoder.status().message(), HasSubstr(words));
    EXPECT_THAT(decoder.status().message(), HasSubstr("decode: field value"));
  }
  EXPECT_FALSE(Decoder::compile({}).ok());
}

TEST(Decoder, TheSteadyStateAllocatesNothing) {
  const auto decoder = Decoder::compile(step_of(kThree));
  const auto scratch = decoder.value()->make_scratch();
  const std::string jpegs[] = {made_jpeg(48, 64), made_jpeg(70, 33, true), made_png(48, 64)};
  const std::string label = "5\n";
  const std::string caption = "a picture";
  record::Fields record;
  Sample sample;
  long before = 0;
  for (int round = 0; round < 10; ++round) {
    if (round == 2) before = allocation_count;
    for (const std::string& jpeg : jpegs) {
      record.fields.clear();
      record.fields.push_back({"png", bytes_of(jpeg)});
      record.fields.push_back({"cls", bytes_of(label)});
      record.fields.push_back({"txt", bytes_of(caption)});
      ASSERT_TRUE(decoder.value()->decode(record, *scratch, sample).ok());
    }
  }
  EXPECT_EQ(allocation_count - before, 0);
}

}  // namespace
}  // namespace echoline::decode
