// Archives that are truncated, damaged, empty or compressed; and how files are grouped into
// records.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "record/index/index_build.h"
#include "record/tar/tar_header.h"
#include "record/tar/webdataset.h"
#include "record_fixture.h"
#include "source/open/open_source.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

class TarScanTest : public RecordTest {
 protected:
  Opened open_tar(const std::string& content) const {
    write("a.tar", content);
    return open(read_of({path("a.tar")}, "webdataset"));
  }
  // Keys and their field names, "a:cls,jpg".
  static std::vector<std::string> summary(const Opened& opened) {
    std::vector<std::string> lines;
    for (const CutRecord& record : opened.cut_all()) {
      std::string line = record.key + ":";
      for (const auto& [name, bytes] : record.fields) line += name + ",";
      lines.push_back(record.status.ok() ? line : record.key + ": bad");
    }
    return lines;
  }
};

TEST_F(TarScanTest, ConsecutiveFilesWithOneKeyAreOneRecord) {
  const Opened opened = open_tar(tar_member("a.jpg", "1") + tar_member("a.cls", "2") +
                                 tar_member("b.jpg", "3") + tar_member("a.jpg", "4") + tar_end());
  EXPECT_THAT(summary(opened), testing::ElementsAre("a:cls,jpg,", "b:jpg,", "a:jpg,"));
}

TEST_F(TarScanTest, AnExtensionThatComesTwiceStartsTheNextRecord) {
  const Opened opened = open_tar(tar_member("a.jpg", "1") + tar_member("a.JPG", "2") +
                                 tar_member("a.cls", "3") + tar_end());
  EXPECT_THAT(summary(opened), testing::ElementsAre("a:jpg,", "a:cls,jpg,"));
  EXPECT_EQ(opened.cut(1).fields.at("jpg"), "2");
}

TEST_F(TarScanTest, FoldersAndFilesWithoutAKeyBelongToNoRecord) {
  const Opened opened = open_tar(
      tar_member("d/", "", '5') + tar_member("d/a.jpg", "1") + tar_member("x", "", '5') +
      tar_member("README", "2") + tar_member("d/a.cls", "3") + tar_member("__meta.json__", "4") +
      tar_member("d/.a.txt", "5") + tar_member("link", "", '2') + tar_end());
  EXPECT_THAT(summary(opened), testing::ElementsAre("d/a:cls,jpg,"));
}

// The rule of WebDataset's tar_file_iterator: not what is in a folder with an ordinary name, and
// not an extension after the second pair of underscores.
TEST_F(TarScanTest, FilesWithReservedNamesAreCountedAndBelongToNoRecord) {
  const std::string content =
      tar_member("__info.json__", "1") + tar_member("a.jpg", "2") + tar_member("__.__", "3") +
      tar_member("__meta__", "4") + tar_member("__v1.0__/x.jpg", "5") +
      tar_member("____/y.jpg", "6") + tar_member("a.cls", "7") + tar_member("__key__.json", "8") +
      tar_member("d/__info.json__", "9") + tar_member("d/__m__/z.jpg", "a") +
      tar_member("___/w.jpg", "b") + tar_member("__a__b/c.jpg", "c") +
      tar_member("__folder__/", "", '5') + tar_end();
  write("a.tar", content);
  write("b.tar", tar_member("b.jpg", "1") + tar_member("__x__/b.cls", "2") + tar_end());
  write("c.tar.gz", gzip(content));
  const v1::Read read = read_of({path("[ab].tar"), path("c.tar.gz")}, "webdataset");
  const Opened opened = open(read, path("state"));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  const std::vector<std::string> one = {"a:cls,jpg,",     "__key__:json,", "d/__info:json__,",
                                        "d/__m__/z:jpg,", "___/w:jpg,",    "__a__b/c:jpg,"};
  std::vector<std::string> expected = one;
  expected.push_back("b:jpg,");
  expected.insert(expected.end(), one.begin(), one.end());
  EXPECT_EQ(summary(opened), expected);
  EXPECT_EQ((*opened.set)->index().meta_files(), 11U);
  // The count is kept with the index.
  EXPECT_EQ((*open(read, path("state")).set)->index().meta_files(), 11U);
  ASSERT_TRUE(opened.publish().ok());
  EXPECT_EQ((*open(read).set)->index().meta_files(), 11U);
}

TEST_F(TarScanTest, AnArchiveWithoutItsEndMarkIsComplete) {
  const Opened opened = open_tar(tar_member("a.jpg", "1") + tar_member("b.jpg", "2"));
  EXPECT_THAT(summary(opened), testing::ElementsAre("a:jpg,", "b:jpg,"));
}

TEST_F(TarScanTest, CutShortAnywhereOnlyTheLastRecordIsBad) {
  std::string whole;
  std::vector<std::size_t> ends;  // of the records' last byte, padding not counted
  for (int i = 0; i < 6; ++i) {
    whole += tar_member(fmt::format("{:03}.jpg", i), std::string(700 + 300 * i, 'x'));
    whole += tar_member(fmt::format("{:03}.cls", i), fmt::format("{}", i));
    ends.push_back(whole.size() - 511);
  }
  whole += tar_end();
  for (std::size_t size = 512; size <= whole.size(); size += 256) {
    const Opened opened = open_tar(whole.substr(0, size));
    ASSERT_TRUE(opened.set.ok()) << size << ": " << opened.set.status().message();
    const auto complete = static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [size](std::size_t end) { return end <= size; }));
    const std::vector<CutRecord> records = opened.cut_all();
    ASSERT_GE(records.size(), complete) << size;
    ASSERT_LE(records.size(), complete + 1) << size;
    for (std::size_t i = 0; i < complete; ++i) {
      // A truncated header may belong to the last record, so that one is bad, too.
      const bool last = i + 1 == records.size() && i + 1 == complete && size > ends[i];
      if (last && !records[i].status.ok()) continue;
      ASSERT_TRUE(records[i].status.ok()) << size << " " << records[i].status.message();
      ASSERT_EQ(records[i].fields.size(), 2U) << size;
      ASSERT_EQ(records[i].fields.at("cls"), fmt::format("{}", i));
    }
    if (records.size() == complete) continue;
    const CutRecord& last = records.back();
    EXPECT_TRUE(!last.status.ok() || last.fields.size() == 1) << size;
    if (last.status.ok()) continue;
    EXPECT_THAT(last.status.message(), HasSubstr("truncated"));
  }
}

TEST_F(TarScanTest, GarbageInPlaceOfAHeaderNamesShardAndOffset) {
  std::string bytes = tar_member("a.jpg", std::string(1000, 'x')) + tar_member("b.jpg", "1");
  bytes[1536 + 3] ^= 1;
  const Opened opened = open_tar(bytes);
  ASSERT_FALSE(opened.set.ok());
  EXPECT_EQ(opened.set.status().code(), Code::kDataLoss);
  EXPECT_THAT(opened.set.status().message(), HasSubstr("a.tar"));
  EXPECT_THAT(opened.set.status().message(), HasSubstr("offset 1536"));
}

TEST_F(TarScanTest, AFileOfNoBytesIsAnErrorThatNamesIt) {
  const Opened opened = open_tar("");
  ASSERT_FALSE(opened.set.ok());
  EXPECT_THAT(opened.set.status().message(), HasSubstr("a.tar is no tar archive: it has 0 bytes"));
}

TEST_F(TarScanTest, AnEmptyArchiveAmongOthersHasNoRecords) {
  write("a.tar", tar_member("a.jpg", "1") + tar_end());
  write("b.tar", tar_end());
  write("c.tar", tar_member("c.jpg", "3") + tar_end());
  const Opened opened = open(read_of({path("{a,b,c}.tar")}));
  EXPECT_THAT(summary(opened), testing::ElementsAre("a:jpg,", "c:jpg,"));
  EXPECT_EQ((*opened.set)->index().shards().size(), 3U);
  EXPECT_EQ((*opened.set)->index().shards()[1].record_count, 0U);
  EXPECT_EQ((*opened.set)->index().extent(1).shard, 2U);
}

TEST_F(TarScanTest, CompressedArchivesAreRefusedWithTheWayOut) {
  const Opened opened = open_tar("\xFD" + std::string("7zXZ") + std::string(2000, 'z'));
  ASSERT_FALSE(opened.set.ok());
  EXPECT_EQ(opened.set.status().code(), Code::kUnimplemented);
  EXPECT_THAT(opened.set.status().message(), HasSubstr("unpack"));
}

TEST_F(TarScanTest, SizesAboveEightGibibytesAreReadInBase256) {
  std::string block = tar_member("big.jpg", "");
  block.replace(124, 12, std::string("\x80\0\0\0\0\0\0\x03\0\0\0\x01", 12));
  block.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  block.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  const auto header = parse_tar_header(std::as_bytes(std::span(block)));
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->bytes, (std::uint64_t{3} << 32) + 1);
}

TEST_F(TarScanTest, ADamagedHeaderSaysWhereItIsAndWhatToDo) {
  std::string bytes = tar_member("a.jpg", "1") + tar_member("b.jpg", "2") + tar_end();
  bytes[1024 + 3] ^= 1;
  const Opened opened = open_tar(bytes);
  ASSERT_FALSE(opened.set.ok());
  EXPECT_EQ(opened.set.status().code(), Code::kDataLoss);
  EXPECT_THAT(opened.set.status().message(), HasSubstr("a.tar: offset 1024"));
  EXPECT_THAT(opened.set.status().message(), HasSubstr("write it again, or remove it"));
}

TEST_F(TarScanTest, WindowsAndShardsAtOnceDoNotChangeTheIndex) {
  std::vector<std::string> names;
  for (int shard = 0; shard < 7; ++shard) {
    std::string bytes;
    for (int i = 0; i <= shard * 3; ++i) {
      const std::string long_name = std::string(200, 'n') + fmt::format("{}-{}.jpg", shard, i);
      bytes += tar_member("././@LongLink", long_name + '\0', 'L');
      bytes += tar_member(long_name.substr(0, 99), std::string(37 * i * i, 'x'));
    }
    names.push_back(fmt::format("{}.tar", shard));
    write(names.back(), bytes + tar_end());
  }
  const auto read = read_of({path("*.tar")});
  auto source = source::open_source(read);
  ASSERT_TRUE(source.ok());
  const auto shards = (*source)->list(path("*.tar"));
  ASSERT_TRUE(shards.ok());
  std::string first;
  IndexJournal no_journal("");
  for (const std::uint64_t window : {512U, 513U, 1536U, 5000U, 4U << 20}) {
    for (const std::uint32_t at_once : {1U, 3U, 16U}) {
      const auto index = build_index(*shards, KnownTables(shards->size()), tar_scan_spec(),
                                     **source, {window, at_once}, {}, no_journal);
      ASSERT_TRUE(index.ok()) << index.status().message();
      ASSERT_EQ(index->records.size(), 70U);
      if (first.empty()) first = encode_index(*index);
      EXPECT_TRUE(encode_index(*index) == first) << window << " " << at_once;
    }
  }
}

}  // namespace
}  // namespace echoline::record
