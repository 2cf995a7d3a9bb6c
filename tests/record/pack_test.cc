// Packing: the shards contain the input, two runs give the same bytes, and the index saves the
// scan.
#include "pack/pack.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>

#include "record/core/record_check.h"
#include "record/files/csv.h"
#include "record_fixture.h"

namespace echoline::cli {
namespace {

using record::CutRecord;
using record::Opened;
using testing::ElementsAre;
using testing::HasSubstr;

class PackTest : public record::RecordTest {
 protected:
  PackTest() {
    options_.output_dir = path("out");
    options_.name = "train";
  }
  void write_gz(const std::string& name, const std::string& content) const {
    gzFile file = gzopen(path(name).c_str(), "wb");
    ASSERT_EQ(gzwrite(file, content.data(), static_cast<unsigned>(content.size())),
              static_cast<int>(content.size()));
    gzclose(file);
  }
  void write_digits() const {
    std::string images("\0\0\10\3\0\0\0\5\0\0\0\2\0\0\0\2", 16), labels("\0\0\10\1\0\0\0\5", 8);
    for (char i = 0; i < 5; ++i) {
      images += std::string(4, static_cast<char>('a' + i));
      labels += i;
    }
    write_gz("images.gz", images);
    write("labels", labels);
  }
  Opened packed() const {
    return record::open(record::read_of({path("out/train-*.tar")}, "webdataset"));
  }

  PackOptions options_;
};

TEST_F(PackTest, IdxBecomesShardsOfRawBytesAndLabels) {
  write_digits();
  options_.inputs = {path("images.gz"), path("labels")};
  options_.shard_records_max = 2;
  const auto done = pack(options_);
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done->records, 5U);
  EXPECT_EQ(done->shards, 3U);
  const Opened opened = packed();
  ASSERT_EQ((*opened.set)->index().record_count(), 5U);
  EXPECT_EQ(opened.cut(3).key, "00000003");
  EXPECT_EQ(opened.cut(3).fields.at("u8"), "dddd");
  EXPECT_EQ(opened.cut(3).fields.at("cls"), "3");
  for (std::uint64_t i = 0; i < 5; ++i) {
    const record::Index& index = (*opened.set)->index();
    EXPECT_NE(index.checksum(i), 0U);
    EXPECT_TRUE(record::read_record(index, i, *opened.source).ok()) << "it agrees";
  }
  // Only the index files were read to open it.
  const Opened again = packed();
  EXPECT_LT(again.source->counters().bytes, 3 * 512U);
}

TEST_F(PackTest, TheSameInputMakesTheSameBytes) {
  write_digits();
  options_.inputs = {path("images.gz"), path("labels")};
  options_.shuffle = true;
  ASSERT_TRUE(pack(options_).ok());
  const std::string first = read("out/train-000000.tar");
  options_.overwrite = true;
  ASSERT_TRUE(pack(options_).ok());
  EXPECT_EQ(read("out/train-000000.tar"), first);
  EXPECT_EQ(first.size() % 10240, 0U);
  options_.seed = 1;
  ASSERT_TRUE(pack(options_).ok());
  EXPECT_NE(read("out/train-000000.tar"), first);
}

TEST_F(PackTest, PythonAndGnuTarReadTheShards) {
  write_digits();
  options_.inputs = {path("images.gz"), path("labels")};
  ASSERT_TRUE(pack(options_).ok());
  run_python(
      "import sys, tarfile\n"
      "t = tarfile.open(sys.argv[1]); names = t.getnames()\n"
      "assert names[:2] == ['00000000.u8', '00000000.cls'], names\n"
      "assert t.extractfile('00000004.u8').read() == b'eeee'\n"
      "assert all(m.mode == 0o644 and m.mtime == 0 for m in t)\n",
      {path("out/train-000000.tar")});
  EXPECT_EQ(std::system(("tar tf " + path("out/train-000000.tar") + " >/dev/null").c_str()), 0);
}

TEST_F(PackTest, IdxCanBecomePng) {
  write_digits();
  options_.inputs = {path("images.gz"), path("labels")};
  options_.png = true;
  ASSERT_TRUE(pack(options_).ok());
  EXPECT_THAT(packed().cut(0).fields.at("png"), testing::StartsWith("\x89PNG\r\n"));
}

TEST_F(PackTest, LabelsBeforeImagesAreCalledSoWithOrWithoutPng) {
  write_digits();
  options_.inputs = {path("labels"), path("images.gz")};
  for (const bool png : {false, true}) {
    options_.png = png;
    const auto packed = pack(options_);
    ASSERT_FALSE(packed.ok());
    EXPECT_THAT(packed.status().message(), testing::HasSubstr("images come first"));
  }
}

TEST_F(PackTest, FoldersKeepFilesAndClassIds) {
  write("d/b/1.JPG", "one");
  write("d/a/2.png", "two");
  options_.inputs = {path("d")};
  ASSERT_TRUE(pack(options_).ok());
  const Opened opened = packed();
  EXPECT_EQ(opened.cut(0).fields.at("png"), "two");
  EXPECT_EQ(opened.cut(0).fields.at("cls"), "0");
  EXPECT_EQ(opened.cut(1).fields.at("jpg"), "one");
  EXPECT_EQ(opened.cut(1).fields.at("cls"), "1");
}

TEST_F(PackTest, ListsNameFilesAndLabels) {
  write("files/a,b.txt", "comma");
  write("files/c.txt", "plain");
  write("list.csv", "path,label\n\"files/a,b.txt\",7\r\nfiles/c.txt,-1\n");
  options_.inputs = {path("list.csv")};
  ASSERT_TRUE(pack(options_).ok());
  EXPECT_EQ(packed().cut(0).fields.at("txt"), "comma");
  EXPECT_EQ(packed().cut(0).fields.at("cls"), "7");
  EXPECT_EQ(packed().cut(1).fields.at("cls"), "-1");
}

TEST_F(PackTest, AListMayBeginWithEitherHeader) {
  write("a.txt", "a");
  for (const char* header : {"path,label", "file_name,label"}) {
    write("list.csv", fmt::format("{}\na.txt,1\n", header));
    options_.inputs = {path("list.csv")};
    options_.overwrite = true;
    ASSERT_TRUE(pack(options_).ok()) << header;
    EXPECT_EQ((*packed().set)->index().record_count(), 1U);
  }
}

TEST_F(PackTest, AListWithAMistakeNamesTheLine) {
  write("a.txt", "a");
  write("list.csv", "a.txt,1\na.txt,dog\n");
  options_.inputs = {path("list.csv")};
  EXPECT_THAT(pack(options_).status().message(), HasSubstr("list.csv:2: label 'dog'"));
  write("list.csv", "a.txt,1\nmissing.txt,2\n");
  EXPECT_THAT(pack(options_).status().message(), HasSubstr("missing.txt"));
  write("list.csv", "path,label,caption\na.txt,1,a word\n");
  EXPECT_THAT(pack(options_).status().message(), HasSubstr("can be read as it is (format: files)"));
  // No incomplete file is left.
  EXPECT_TRUE(std::filesystem::is_empty(path("out")));
}

TEST_F(PackTest, ShardsInTheWayAreRefusedOrReplaced) {
  write_digits();
  options_.inputs = {path("images.gz"), path("labels")};
  options_.shard_records_max = 1;
  ASSERT_TRUE(pack(options_).ok());
  EXPECT_EQ(pack(options_).status().code(), Code::kAlreadyExists);
  options_.overwrite = true;
  options_.shard_records_max = 3;
  ASSERT_TRUE(pack(options_).ok());
  EXPECT_EQ((*packed().set)->index().shards().size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(path("out/train-000004.tar.echoline-index")));
}

TEST_F(PackTest, ShardsStayBelowTheirLargestSize) {
  for (int i = 0; i < 20; ++i) write(fmt::format("d/a/{:02}.txt", i), std::string(1000, 'x'));
  options_.inputs = {path("d/")};
  options_.shard_bytes_max = 8 << 10;
  ASSERT_TRUE(pack(options_).ok());
  const Opened opened = packed();
  EXPECT_EQ((*opened.set)->index().record_count(), 20U);
  for (const record::Shard& shard : (*opened.set)->index().shards()) {
    EXPECT_LE(shard.object.bytes, 10240U);
  }
}

TEST_F(PackTest, FashionMnistKeepsItsImages) {
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "package dataset-fashion-mnist is missing";
  options_.inputs = {folder + "t10k-images-idx3-ubyte.gz", folder + "t10k-labels-idx1-ubyte.gz"};
  ASSERT_TRUE(pack(options_).ok());
  const Opened opened = packed();
  ASSERT_EQ((*opened.set)->index().record_count(), 10000U);
  EXPECT_EQ(opened.cut(0).fields.at("u8").size(), 784U);
  EXPECT_EQ(opened.cut(0).fields.at("cls"), "9");
}

TEST(CsvTest, QuotesHoldCommasTogether) {
  std::string_view line = R"(a,"b,""c""",)";
  EXPECT_THAT(*record::take_csv_row(line), ElementsAre("a", "b,\"c\"", ""));
  std::string_view unclosed = "\"open";
  EXPECT_FALSE(record::take_csv_row(unclosed).ok());
}

}  // namespace
}  // namespace echoline::cli
