// Lists of files: each row is a record, its columns are fields, and errors name their line.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "record/files/list_table.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Fields = std::map<std::string, std::string>;

class FilesTest : public RecordTest {
 protected:
  FilesTest() {
    write("d/a b.JPG", "one");
    write("d/c*.png", "two");
    write("other/e.txt", "three");
  }
  Opened opened(const std::string& name, const std::string& list,
                const std::string& classes = "") const {
    write(name, list);
    v1::Read read = read_of({path(name)}, "files");
    if (!classes.empty()) read.set_classes(path(classes));
    return open(read);
  }
  std::string failure(const std::string& name, const std::string& list,
                      const std::string& classes = "") const {
    return opened(name, list, classes).set.status().message();
  }
};

TEST_F(FilesTest, ColumnsOfACsvListAreFields) {
  const Opened set =
      opened("list.csv", "label,path,caption\r\n7,d/a b.JPG,\"a, \"\"b\"\"\nc\"\r\n" +
                             std::string("-1,./d/c*.png,\n0,") + path("other/e.txt") + ",x");
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  EXPECT_EQ((*set.set)->format(), "files");
  EXPECT_EQ(set.cut(0).fields, (Fields{{"jpg", "one"}, {"cls", "7"}, {"caption", "a, \"b\"\nc"}}));
  EXPECT_EQ(set.cut(1).fields, (Fields{{"png", "two"}, {"cls", "-1"}, {"caption", ""}}));
  EXPECT_EQ(set.cut(2).fields, (Fields{{"txt", "three"}, {"cls", "0"}, {"caption", "x"}}));
  EXPECT_EQ(set.cut(0).key, "d/a b.JPG");
}

TEST_F(FilesTest, JsonLinesAndPlainPathsAreLists) {
  const Opened json =
      opened("list.jsonl", R"({"file_name": "d/a b.JPG", "label": 3, "box": [1, 2], "t": "ö"})"
                           "\n\n"
                           R"({"t": null, "box": {}, "label": 4, "file_name": "d/c*.png"})");
  ASSERT_TRUE(json.set.ok()) << json.set.status().message();
  EXPECT_EQ(json.cut(0).fields,
            (Fields{{"jpg", "one"}, {"cls", "3"}, {"box", "[1,2]"}, {"t", "\xC3\xB6"}}));
  EXPECT_EQ(json.cut(1).fields, (Fields{{"png", "two"}, {"cls", "4"}, {"box", "{}"}, {"t", ""}}));
  const Opened plain = opened("list.txt", "d/c*.png\nd/c*.png\n\nother/e.txt\n");
  ASSERT_EQ((*plain.set)->index().record_count(), 3U);
  EXPECT_EQ(plain.cut(1).fields, (Fields{{"png", "two"}}));
}

TEST_F(FilesTest, ClassNamesBecomeTheNumbersOfTheirFile) {
  write("classes.txt", "dog\ncat\n");
  const Opened set = opened("list.csv", "d/a b.JPG,cat\nother/e.txt,dog\n", "classes.txt");
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  EXPECT_EQ(set.cut(0).fields, (Fields{{"jpg", "one"}, {"cls", "1"}, {"cls_name", "cat"}}));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(failure("list.csv", "d/a b.JPG,cat\n", "pipe"), HasSubstr("is not a file"));
  EXPECT_THAT(failure("list.csv", "d/a b.JPG,cow\n", "classes.txt"),
              HasSubstr("list.csv: d/a b.JPG is of class 'cow'"));
}

TEST_F(FilesTest, SeveralListsFollowOneAnother) {
  write("one.csv", "d/a b.JPG,1\n");
  write("other/two.csv", "e.txt,2\n");
  const Opened set = open(read_of({path("one.csv"), path("other/two.csv")}, "files"));
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  EXPECT_EQ(set.cut(1).fields, (Fields{{"txt", "three"}, {"cls", "2"}}));
  write("other/two.csv", "path,weight\ne.txt,2\n");
  EXPECT_THAT(
      open(read_of({path("one.csv"), path("other/two.csv")}, "files")).set.status().message(),
      HasSubstr("columns are not those of the first list"));
}

TEST_F(FilesTest, MistakesAreNamedWithTheirLine) {
  EXPECT_THAT(failure("l.csv", "path,label\nd/a b.JPG\n"), HasSubstr("l.csv: line 2: 1 fields"));
  EXPECT_THAT(failure("l.csv", "x,y,z\n1,2,3\n"), HasSubstr("no column is called 'path'"));
  EXPECT_THAT(failure("l.csv", "a,1\n\"b,2\n"), HasSubstr("line 2: a quote is not closed"));
  EXPECT_THAT(failure("l.csv", "path,label\n,1\n"), HasSubstr("entry 1 names no file"));
  EXPECT_THAT(failure("l.csv", "d/missing.png,1\n"), HasSubstr("missing.png"));
  EXPECT_THAT(
      failure("l.jsonl", "{\"path\": \"d/a b.JPG\"}\n{\"path\": \"d/a b.JPG\", \"x\": 1}\n"),
      HasSubstr("line 2: its members are not those of the first line"));
  EXPECT_THAT(failure("l.jsonl", "[1]\n"), HasSubstr("line 1: no JSON object"));
  EXPECT_THAT(failure("l.txt", "\n"), HasSubstr("lists no files"));
}

}  // namespace
}  // namespace echoline::record
