// MDS folders written in Python are read by their own index.json, every encoding as documented.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "record/mds/mds_index.h"
#include "record/mds/mds_sample.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

class MdsTest : public RecordTest {
 protected:
  // `body` is Python code that sets `columns` and `samples`.
  void write_set(const std::string& folder, const std::string& body, int shard_samples) const {
    run_python(fmt::format("import sys\nsys.path.insert(0, sys.argv[1])\n"
                           "from shard_writers import *\n{}\n"
                           "write_mds(sys.argv[2], columns, samples, {})\n",
                           body, shard_samples),
               {ECHOLINE_SOURCE_DIR "/tests/record", path(folder)});
  }
  void write_numbered(const std::string& folder, int count, int shard_samples) const {
    write_set(folder,
              fmt::format("columns = {{'text': 'str', 'id': 'int'}}\n"
                          "samples = [{{'text': b'sample %d' % i, 'id': struct.pack('<q', i)}} "
                          "for i in range({})]",
                          count),
              shard_samples);
  }
  Opened opened(const std::string& address, const std::string& format = "auto",
                const std::string& state = "") const {
    return open(read_of({path(address)}, format), state);
  }
  Status failure(const std::string& address) const { return opened(address, "mds").set.status(); }
  void replace_in_index(const std::string& from, const std::string& to) const {
    std::string text = read("set/index.json");
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write("set/index.json", text.replace(at, from.size(), to));
  }
};

TEST_F(MdsTest, EachEncodingIsTheFieldThatIsDocumented) {
  write_set("set", R"(
columns = {"image": "jpeg", "png": "png", "text": "str", "blob": "bytes", "meta": "json", "n": "int", "u": "uint8",
           "f": "float32", "d": "float64", "si": "str_int", "sf": "str_float", "vec": "ndarray:float32:2,2",
           "dyn": "ndarray:int32", "any": "ndarray", "bad": "pkl"}
numbers = struct.pack("<4f", 1, 2, 3, 4)
samples = [{"image": b"\xff\xd8", "png": b"\x89PNG", "text": "ö".encode(), "blob": b"", "meta": b"{}",
            "n": struct.pack("<q", -3), "u": b"\xff", "f": struct.pack("<f", 0.25), "d": struct.pack("<d", 1e100),
            "si": b"123456789012345678901234567890", "sf": b"1.5", "vec": numbers,
            "dyn": bytes([2 << 2 | 1]) + struct.pack("<2H", 1, 2) + struct.pack("<2i", 7, 8),
            "any": bytes([16, 1 << 2]) + b"\x03" + b"abcdef", "bad": b"cos\nsystem"}])",
            10);
  const Opened set = opened("set/");
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  EXPECT_EQ((*set.set)->format(), "mds");
  const CutRecord record = set.cut(0);
  ASSERT_TRUE(record.status.ok()) << record.status.message();
  EXPECT_EQ(record.key, "shard.00000.mds:0");
  const std::map<std::string, std::string> expected = {
      {"image", "\xFF\xD8"},
      {"png", "\x89PNG"},
      {"text", "\xC3\xB6"},
      {"blob", ""},
      {"meta", "{}"},
      {"n", "-3"},
      {"n[]", std::string("\xFD\xFF\xFF\xFF\xFF\xFF\xFF\xFF")},
      {"u", "255"},
      {"u[]", "\xFF"},
      {"f", "0.25"},
      {"f[]", std::string("\0\0\x80\x3E", 4)},
      {"d", "1e+100"},
      {"d[]", record.fields.at("d[]")},
      {"si", "123456789012345678901234567890"},
      {"sf", "1.5"},
      {"vec", std::string("\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16)},
      {"dyn", std::string("\7\0\0\0\x8\0\0\0", 8)},
      {"any", "abcdef"}};
  EXPECT_EQ(record.fields, expected);
}

TEST_F(MdsTest, SamplesOfAllShardsAndFoldersFollowTheIndexAndOnlyTablesAreRead) {
  write_numbered("a", 25, 10);
  write_numbered("b", 3, 10);
  const v1::Read read = read_of({path("a"), path("b/index.json")}, "mds");
  const Opened set = open(read, path("state"));
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  ASSERT_EQ((*set.set)->index().record_count(), 28U);
  ASSERT_EQ((*set.set)->index().shard_count(), 4U);
  EXPECT_EQ(set.cut(24).fields.at("text"), "sample 24");
  EXPECT_EQ(set.cut(24).key, "shard.00002.mds:4");
  EXPECT_EQ(set.cut(27).fields.at("id"), "2");
  const std::uint64_t indexes = std::filesystem::file_size(path("a/index.json")) +
                                std::filesystem::file_size(path("b/index.json"));
  const Opened first = open(read);
  EXPECT_EQ(first.source->counters().bytes, indexes + (28 + 2 * 4) * 4);
  const Opened again = open(read, path("state"));
  EXPECT_EQ(again.source->counters().bytes, indexes);
  EXPECT_EQ(again.cut_all(), set.cut_all());
}

TEST_F(MdsTest, AShardThatDoesNotFitItsIndexIsAnErrorThatNamesIt) {
  write_numbered("set", 20, 10);
  const std::string shard = read("set/shard.00001.mds");
  write("set/shard.00001.mds", shard.substr(0, shard.size() - 1));
  EXPECT_THAT(failure("set").message(), HasSubstr("set/shard.00001.mds has not the"));
  std::string other = shard;
  other[0] = 9;
  write("set/shard.00001.mds", other);
  EXPECT_THAT(failure("set").message(),
              HasSubstr("shard.00001.mds: 9 samples where index.json says 10"));
  other = shard;
  other[4 + 4 * 5 + 3] = 1;  // an offset beyond the end
  write("set/shard.00001.mds", other);
  EXPECT_EQ(failure("set").code(), Code::kDataLoss);
  std::filesystem::remove(path("set/shard.00001.mds"));
  EXPECT_THAT(failure("set").message(), HasSubstr("shard.00001.mds"));
}

TEST_F(MdsTest, WhatCannotBeReadSaysWhy) {
  write_numbered("set", 2, 10);
  replace_in_index("\"zip_data\": null", "\"zip_data\": {\"basename\": \"x\"}");
  EXPECT_EQ(failure("set").code(), Code::kDataLoss);
  write_numbered("set", 2, 10);
  replace_in_index("\"zip_data\": null", "\"zip_data\": {\"basename\": \"x\", \"bytes\": 9}");
  replace_in_index("\"compression\": null", "\"compression\": \"lz4:3\"");
  EXPECT_EQ(failure("set").code(), Code::kUnimplemented);
  EXPECT_THAT(failure("set").message(), HasSubstr("compression \"lz4:3\", which is not read"));
  write_numbered("set", 2, 10);
  replace_in_index("\"zip_data\": null", "\"zip_data\": {\"basename\": \"../x\", \"bytes\": 9}");
  EXPECT_EQ(failure("set").code(), Code::kDataLoss);
  write_numbered("set", 2, 10);
  replace_in_index("shard.00000.mds", "../shard.00000.mds");
  EXPECT_EQ(failure("set").code(), Code::kDataLoss);
  write("set/index.json", "{");
  EXPECT_THAT(failure("set").message(), HasSubstr("set/index.json: no index of an MDS data set"));
  write_numbered("splits/train", 2, 10);
  EXPECT_THAT(failure("splits").message(), HasSubstr("splits/train/index.json"));
}

TEST_F(MdsTest, ASampleWhoseSizesDoNotAddUpIsBad) {
  write_numbered("set", 2, 10);
  std::string shard = read("set/shard.00000.mds");
  const std::size_t text = shard.find("sample 0");
  shard[text - 12] = 100;  // the number is after the size of the text
  write("set/shard.00000.mds", shard);
  const Opened set = opened("set/");
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  EXPECT_EQ(set.cut(0).status.code(), Code::kDataLoss);
  EXPECT_TRUE(set.cut(1).status.ok());
}

}  // namespace
}  // namespace echoline::record
