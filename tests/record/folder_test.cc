// Class folders: classes, ids, order, fields, and files that are left out.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "record/files/class_names.h"
#include "record/index/file_index.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FolderTest : public RecordTest {};

TEST_F(FolderTest, ClassesAreSubFoldersSortedBytewise) {
  write("d/b/2.JPG", "two");
  write("d/b/1.png", "one");
  write("d/a-b/x.v2.jpg", "dash");
  write("d/a/deep/er/3.jpg", "three");
  write("d/Z/4", "four");
  const Opened opened = open(read_of({path("d/")}));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ((*opened.set)->format(), "folder");
  std::vector<std::string> lines;
  for (const CutRecord& record : opened.cut_all()) {
    EXPECT_TRUE(record.status.ok());
    lines.push_back(record.key + " " + record.fields.at("cls") + " " +
                    record.fields.at("cls_name"));
  }
  EXPECT_THAT(lines, ElementsAre("Z/4 0 Z", "a-b/x.v2.jpg 2 a-b", "a/deep/er/3.jpg 1 a",
                                 "b/1.png 3 b", "b/2.JPG 3 b"));
  EXPECT_EQ(opened.cut(4).fields.at("jpg"), "two");
  EXPECT_EQ(opened.cut(0).fields.at("data"), "four");
  EXPECT_EQ((*opened.set)->index().shards()[4].object.url, path("d/b/2.JPG"));
  EXPECT_FALSE((*opened.set)->index().shards()[4].object.version.empty());
}

TEST_F(FolderTest, HiddenFilesAndFilesInNoClassAreLeftOut) {
  write("d/README", "no class");
  write("d/a/.DS_Store", "hidden");
  write("d/.git/config", "hidden folder");
  write("d/a/1.jpg", "one");
  const Opened opened = open(read_of({path("d")}, "folder"));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ((*opened.set)->index().record_count(), 1U);
}

TEST_F(FolderTest, AFileOfNamesGivesTheIds) {
  write("d/dog/1.jpg", "1");
  write("d/ant/2.jpg", "2");
  write("names", "dog\r\ncat\r\nant\r\n");
  v1::Read read = read_of({path("d/")}, "folder");
  read.set_classes(path("names"));
  const Opened opened = open(read);
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ(opened.cut(0).fields.at("cls"), "2");
  EXPECT_EQ(opened.cut(1).fields.at("cls"), "0");
}

TEST_F(FolderTest, AClassThatTheFileDoesNotNameIsAnErrorThatNamesIt) {
  write("d/dog/1.jpg", "1");
  write("d/wolf/2.jpg", "2");
  write("names", "dog\n");
  v1::Read read = read_of({path("d/")}, "folder");
  read.set_classes(path("names"));
  const Opened opened = open(read);
  ASSERT_FALSE(opened.set.ok());
  EXPECT_THAT(opened.set.status().message(), HasSubstr("'wolf'"));
  EXPECT_THAT(opened.set.status().message(), HasSubstr("names"));
}

TEST_F(FolderTest, SeveralFoldersShareTheirClasses) {
  write("1/b/1.jpg", "1");
  write("2/a/2.jpg", "2");
  const Opened opened = open(read_of({path("{1,2}/")}));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ(opened.cut(0).fields.at("cls"), "1");
  EXPECT_EQ(opened.cut(1).fields.at("cls"), "0");
  EXPECT_EQ((*opened.set)->index().shards()[1].object.url, path("2/a/2.jpg"));
}

TEST_F(FolderTest, AnEmptyFileIsABadRecordAndAnEmptyFolderAnError) {
  write("d/a/1.jpg", "");
  EXPECT_FALSE(open(read_of({path("d/")}, "folder")).cut(0).status.ok());
  write("e/1.jpg", "in no class");
  EXPECT_FALSE(open(read_of({path("e/")}, "folder")).set.ok());
}

TEST(FileIndexTest, AMillionFilesTakeSixteenBytesEachAndTheirNames) {
  FileIndex index;
  index.add_root("s3://bucket/photos/train/");
  std::uint64_t text = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string path = fmt::format("n{:08}/{:08}.JPEG", i / 1000, i);
    const std::string version = fmt::format("{:032x}", i);
    index.add({"s3://bucket/photos/train/" + path, 100'000, version});
    text += path.size() + 1 + version.size();
  }
  index.shrink();
  EXPECT_LE(index.memory_bytes(), 16'000'000 + text + 64);
  EXPECT_EQ(index.key(999'999), "n00000999/00999999.JPEG");
  EXPECT_EQ(index.shard(5).object.url, "s3://bucket/photos/train/n00000000/00000005.JPEG");
  EXPECT_EQ(index.shard(5).object.version, "00000000000000000000000000000005");
}

TEST(ClassNamesTest, LinesMayCarryTheirNumbers) {
  const auto names = ClassNames::from_text("0 n01440764\n1 n01443537\n");
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->id("n01443537"), 1U);
  const auto others = ClassNames::from_text("0 n01440764\n2 n01443537\n");
  ASSERT_TRUE(others.ok());
  EXPECT_EQ(others->id("2 n01443537"), 1U);
  EXPECT_FALSE(ClassNames::from_text("a\nb\na\n").ok());
  EXPECT_FALSE(ClassNames::from_text("a\n\nb\n").ok());
  EXPECT_FALSE(ClassNames::from_text("\n").ok());
}

}  // namespace
}  // namespace echoline::record
