// Text files with one record per line: JSON objects and plain text.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "pack_bytes.h"
#include "record/lines/json_record.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;
using FieldMap = std::map<std::string, std::string>;

template <typename T>
std::string raw(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

FieldMap cut(std::string_view json) {
  Fields fields;
  const Status status = cut_json_record(std::as_bytes(std::span(json)), fields);
  FieldMap map;
  if (!status.ok()) map["error"] = status.message();
  for (const FieldBytes& field : fields.fields) {
    map[std::string(field.name)] =
        std::string(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
  }
  return map;
}

class Lines : public RecordTest {
 protected:
  Opened opened(const std::string& name, const std::string& format = "auto",
                const std::string& state = "") const {
    return open(read_of({path(name)}, format), state);
  }
};

TEST(JsonRecord, MembersAreFields) {
  const FieldMap expected = {{"text", "gr\xC3\xBC\xC3\x9F\n"},
                             {"n", "-7"},
                             {"big", "18446744073709551615"},
                             {"x", "0.1"},
                             {"yes", "1"},
                             {"no", "0"},
                             {"nested", R"({"a":[1,{"b":null}]})"},
                             {"words", R"(["a","b"])"},
                             {"ids", "[1,2]"},
                             {"ids[int64]", raw<std::int64_t>({1, 2})},
                             {"ids[float32]", raw<float>({1, 2})},
                             {"box", "[0.5,3]"},
                             {"box[float32]", raw<float>({0.5F, 3})},
                             {"large", "[9223372036854775808]"},
                             {"large[float32]", raw<float>({9223372036854775808.0F})},
                             {"empty", "[]"},
                             {"empty[int64]", ""},
                             {"empty[float32]", ""}};
  EXPECT_EQ(cut(R"({"text": "gr\u00fc\u00df\n", "n": -7, "big": 18446744073709551615, "x": 0.1,
      "yes": true, "no": false, "nothing": null, "nested": {"a": [1, {"b": null}]},
      "words": ["a", "b"], "ids": [1, 2], "box": [0.5, 3],
      "large": [9223372036854775808], "empty": []})"),
            expected);
}

TEST(JsonRecord, WhatIsNoObjectIsABadRecord) {
  for (const std::string_view bad : {R"({"a": 1)", "[1]", "7", "", "{\"a\": \"\xFF\"}", "{} {}"}) {
    EXPECT_TRUE(cut(bad).contains("error")) << bad;
  }
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(cut("{\"a\": " + deep + "}").at("error"), HasSubstr("levels deep"));
}

TEST_F(Lines, ALineIsARecordInPlainAndCompressedFiles) {
  std::string text = "\n  {\"i\": 0, \"t\": \"" + std::string(300'000, 'x') + "\"}\r\n \t\n";
  for (int i = 1; i < 50; ++i) text += fmt::format("{{\"i\": {}}}\n", i);
  text.pop_back();  // the last line needs no line feed
  write("a.jsonl", text);
  write("b.jsonl.zst", zstd_bytes(text));
  write("c.jsonl.gz", gzip(text));
  for (const std::string name : {"a.jsonl", "b.jsonl.zst", "c.jsonl.gz"}) {
    for (int start = 0; start < 2; ++start) {
      const Opened set = opened(name, "auto", path("state"));
      ASSERT_TRUE(set.set.ok()) << set.set.status().message();
      EXPECT_EQ((*set.set)->format(), "jsonl");
      ASSERT_EQ((*set.set)->index().record_count(), 50U) << name;
      EXPECT_NE((*set.set)->index().checksum(49) != 0, name == "a.jsonl") << name;
      const auto records = set.cut_all();
      for (int i = 0; i < 50; ++i) EXPECT_EQ(records[i].fields.at("i"), std::to_string(i));
      EXPECT_EQ(records[0].fields.at("t").size(), 300'000U);
      EXPECT_EQ(records[49].key, name + ":49");
    }
  }
}

TEST_F(Lines, PlainTextIsReadOnlyIfTheFormatSaysSo) {
  write("a.txt", "one two \r\n\n   three\nfour");
  const Opened set = opened("a.txt", "lines");
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  std::vector<std::string> texts;
  for (const CutRecord& record : set.cut_all()) texts.push_back(record.fields.at("text"));
  EXPECT_EQ(texts, (std::vector<std::string>{"one two", "three", "four"}));
  EXPECT_EQ(opened("a.txt").set.status().code(), Code::kInvalidArgument);
  write("empty.txt", " \n\n");
  EXPECT_EQ(opened("empty.txt", "lines").set.status().code(), Code::kNotFound);
}

TEST_F(Lines, AListOfFilesIsNotTakenForRecords) {
  write("list.jsonl", "{\"path\": \"a.jpg\", \"label\": 1}\n");
  EXPECT_THAT(opened("list.jsonl").set.status().message(), HasSubstr("of a list of files"));
  write("pretty.jsonl", "{\n  \"a\": 1\n}\n");
  EXPECT_FALSE(opened("pretty.jsonl").set.ok());
  write("lines.json", "{\"a\": 1}\n");
  EXPECT_FALSE(opened("lines.json").set.ok());
  EXPECT_TRUE(opened("lines.json", "jsonl").set.ok());
}

}  // namespace
}  // namespace echoline::record
