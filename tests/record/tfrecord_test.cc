// TFRecord files written in Python are cut to the same features; checksums detect damage.
#include "record/tfrecord/tfrecord.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/crc.h"
#include "record/open/open_data_set.h"
#include "record/tfrecord/wire.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

// Raw little-endian elements.
template <typename T>
std::string raw(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

class TfRecordTest : public RecordTest {
 protected:
  // `body` is Python code that sets `examples`.
  void write_examples(const std::string& name, const std::string& body,
                      const std::string& packed = "True") const {
    run_python(fmt::format("import sys\nsys.path.insert(0, sys.argv[1])\n"
                           "from shard_writers import *\n{}\n"
                           "write_tfrecord(sys.argv[2], examples, {})\n",
                           body, packed),
               {ECHOLINE_SOURCE_DIR "/tests/record", path(name)});
  }
  void write_numbered(const std::string& name, int count, int bytes = 10) const {
    write_examples(name, fmt::format("examples = [{{'x': b'v' * {}, 'i': i}} for i in range({})]",
                                     bytes, count));
  }
  Opened opened(const std::string& name, const std::string& state = "") const {
    return open(read_of({path(name)}), state);
  }
};

TEST(Crc32cTest, KnownAnswersOfTheStandard) {
  const std::vector<std::byte> zeros(32), ones(32, std::byte{0xFF});
  EXPECT_EQ(crc32c(0, zeros), 0x8A9136AAU);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(0, ones), 0x62A8AB43U);
  std::vector<std::byte> rising;
  for (int i = 0; i < 32; ++i) rising.push_back(static_cast<std::byte>(i));
  EXPECT_EQ(crc32c(0, rising), 0x46DD794EU);
  for (std::size_t cut = 0; cut <= rising.size(); ++cut) {
    const auto whole = std::span<const std::byte>(rising);
    EXPECT_EQ(crc32c(crc32c(0, whole.first(cut)), whole.subspan(cut)), 0x46DD794EU) << cut;
  }
}

TEST(Crc32cTest, LongTextsHaveTheChecksumOfTheirPieces) {
  std::vector<std::byte> text(10'000);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::byte>(i * i >> 3);
  for (std::size_t bytes = 3000; bytes <= text.size(); bytes += 7) {
    std::uint32_t pieces = 0;
    for (std::size_t at = 0; at < bytes; at += 100) {
      pieces = crc32c(pieces, std::span(text).subspan(at, std::min<std::size_t>(100, bytes - at)));
    }
    ASSERT_EQ(crc32c(0, std::span(text).first(bytes)), pieces) << bytes;
  }
}

TEST_F(TfRecordTest, FeaturesAreFieldsByTheirNames) {
  for (const std::string packed : {"True", "False"}) {
    write_examples("a.tfrecord", R"(examples = [{
        "image/encoded": b"\xff\xd8jpeg", "label": 7, "weight": 0.5, "box": [1.0, -2.5],
        "ids": [3, -1, 2**40], "words": [b"one", b"", b"three"], "none": [], "text": "ö".encode()}])",
                   packed);
    const Opened set = opened("a.tfrecord");
    ASSERT_TRUE(set.set.ok()) << set.set.status().message();
    EXPECT_EQ((*set.set)->format(), "tfrecord");
    const CutRecord record = set.cut(0);
    ASSERT_TRUE(record.status.ok()) << record.status.message();
    EXPECT_EQ(record.key, "a.tfrecord:0");
    const std::map<std::string, std::string> expected = {
        {"image/encoded", "\xFF\xD8jpeg"},
        {"label", "7"},
        {"label[]", raw<std::int64_t>({7})},
        {"weight", "0.5"},
        {"weight[]", raw<float>({0.5F})},
        {"box", raw<float>({1.0F, -2.5F})},
        {"box[]", raw<float>({1.0F, -2.5F})},
        {"ids", raw<std::int64_t>({3, -1, std::int64_t{1} << 40})},
        {"ids[]", raw<std::int64_t>({3, -1, std::int64_t{1} << 40})},
        {"words[0]", "one"},
        {"words[1]", ""},
        {"words[2]", "three"},
        {"none[]", ""},
        {"text", "\xC3\xB6"}};
    EXPECT_EQ(record.fields, expected) << packed;
  }
}

TEST_F(TfRecordTest, RecordsOfAllFilesHaveTheirPlacesAndKeys) {
  write_numbered("a.tfrecord", 300, 1000);
  write_numbered("b.tfrecord", 1);
  write("c.tfrecord", "");
  const Opened set = open(read_of({path("*.tfrecord")}));
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  ASSERT_EQ((*set.set)->index().record_count(), 301U);
  EXPECT_EQ(set.cut(299).fields.at("i"), "299");
  EXPECT_EQ(set.cut(300).key, "b.tfrecord:0");
  EXPECT_EQ((*set.set)->index().record_bytes_total(),
            std::filesystem::file_size(path("a.tfrecord")) +
                std::filesystem::file_size(path("b.tfrecord")));
}

TEST_F(TfRecordTest, OnlyHeadersAreReadAndOnlyOnce) {
  write_numbered("a.tfrecord", 20, 200'000);
  const Opened first = opened("a.tfrecord", path("state"));
  EXPECT_LT(first.source->counters().bytes, 21 * 65536U + 4096U);
  const Opened second = opened("a.tfrecord", path("state"));
  EXPECT_LE(second.source->counters().bytes, 4096U);  // only the detection reads the data
  EXPECT_EQ(second.cut_all(), first.cut_all());
  ASSERT_TRUE(first.publish().ok());
  const Opened sidecar = opened("a.tfrecord");
  EXPECT_LT(sidecar.source->counters().bytes, 8192U);
  EXPECT_EQ(sidecar.cut_all(), first.cut_all());
}

TEST_F(TfRecordTest, AFlippedByteIsABadRecordOrADamagedFile) {
  write_numbered("good", 3, 50);
  const std::string good = read("good");
  const std::size_t each = good.size() / 3;
  for (std::size_t at = each; at < 2 * each; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write("a.tfrecord", bad);
    const Opened set = open(read_of({path("a.tfrecord")}, "tfrecord"));
    if (at < each + kTfHeaderBytes) {
      ASSERT_EQ(set.set.status().code(), Code::kDataLoss) << at;
      EXPECT_THAT(set.set.status().message(), HasSubstr(fmt::format("offset {}", each)));
      continue;
    }
    ASSERT_TRUE(set.set.ok()) << at << set.set.status().message();
    EXPECT_TRUE(set.cut(0).status.ok() && set.cut(2).status.ok()) << at;
    EXPECT_EQ(set.cut(1).status.code(), Code::kDataLoss) << at;
    EXPECT_THAT(set.cut(1).status.message(), HasSubstr("checksum")) << at;
  }
}

TEST_F(TfRecordTest, CutShortAnywhereOnlyTheLastRecordIsBad) {
  write_numbered("good", 2, 50);
  const std::string good = read("good");
  for (std::size_t size = good.size() / 2 + 1; size < good.size(); ++size) {
    write("a.tfrecord", good.substr(0, size));
    const Opened set = opened("a.tfrecord");
    ASSERT_TRUE(set.set.ok()) << size;
    ASSERT_EQ((*set.set)->index().record_count(), 2U) << size;
    EXPECT_TRUE(set.cut(0).status.ok()) << size;
    EXPECT_EQ(set.cut(1).status.code(), Code::kDataLoss) << size;
  }
}

TEST_F(TfRecordTest, WhatIsNoExampleIsABadRecordThatSaysSo) {
  write_examples("a.tfrecord",
                 "import pathlib\nexamples = []\n"
                 "pathlib.Path(sys.argv[2] + '.raw').write_bytes("
                 "frame(b'plain bytes') + frame(b''))");
  const Opened set = open(read_of({path("a.tfrecord.raw")}, "tfrecord"));
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  for (const CutRecord& record : set.cut_all()) {
    EXPECT_EQ(record.status.code(), Code::kDataLoss);
    EXPECT_THAT(record.status.message(), HasSubstr("no tf.train.Example"));
  }
}

TEST_F(TfRecordTest, ABlindSearchForAnIndexFindsThatOfTheFormat) {
  write_numbered("a.tfrecord", 2);
  v1::Read read = read_of({path("a.tfrecord")}, "tfrecord");
  EXPECT_FALSE(index_is_known(read, path("state")));
  ASSERT_TRUE(open(read, path("state")).set.ok());
  EXPECT_TRUE(index_is_known(read, path("state")));
}

}  // namespace
}  // namespace echoline::record
