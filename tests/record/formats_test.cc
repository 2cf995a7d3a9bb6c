// The table of formats: it has every format of the configuration, and the strongest match wins.
#include "record/open/formats.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <string>

#include "echoline/v1/config.pb.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

class FormatsTest : public RecordTest {
 protected:
  std::string detected(const v1::Read& read) const {
    const Opened opened = open(read);
    return opened.set.ok() ? std::string((*opened.set)->format()) : opened.set.status().message();
  }
};

TEST(FormatTableTest, HasEveryFormatThatTheConfigurationAllows) {
  const auto* const field = v1::Read::descriptor()->FindFieldByName("format");
  std::string names = "auto";
  for (const Format* format : formats()) {
    EXPECT_NE(format->open, nullptr) << format->name;
    EXPECT_EQ(find_format(format->name), format);
    names += "|" + std::string(format->name);
  }
  EXPECT_EQ(field->options().GetExtension(v1::one_of), names);
  EXPECT_EQ(find_format("auto"), nullptr);
}

TEST_F(FormatsTest, ContentsWinOverTheFormOfTheAddress) {
  write("tars/a/1.tar", tar_member("1.txt", "one") + tar_end());
  EXPECT_EQ(detected(read_of({path("tars/")})), "webdataset");
  write("classes/a/1.jpg", "no header");
  EXPECT_EQ(detected(read_of({path("classes/")})), "folder");
  v1::Read tokens = read_of({path("classes/")});
  tokens.mutable_tokens()->set_length(2);
  EXPECT_EQ(detected(tokens), "folder") << "settings of tokens are the weakest sign";
}

TEST_F(FormatsTest, AnIndexFileWinsOverContents) {
  const std::string tar = tar_member("1.txt", "one") + tar_end();
  write("set/0.tar", tar);
  write("set/index.json",
        R"({"version": 2, "shards": [{"format": "mds", "version": 2, "column_names": ["x"],
            "column_encodings": ["str"], "column_sizes": [null], "compression": null,
            "samples": 1, "raw_data": {"basename": "0.tar", "bytes": )" +
            std::to_string(tar.size()) + "}}]}");
  // Opened as MDS, it fails: the shard is a tar file.
  EXPECT_NE(detected(read_of({path("set/")})).find("index.json says"), std::string::npos)
      << detected(read_of({path("set/")}));
}

TEST_F(FormatsTest, ACompressedFileInClassFoldersIsAFile) {
  write("classes/a/1.gz", gzip(tar_member("1.txt", "one") + tar_end()));
  EXPECT_EQ(detected(read_of({path("classes/")})), "folder");
  EXPECT_EQ(detected(read_of({path("classes/a/1.gz")})), "webdataset");
}

}  // namespace
}  // namespace echoline::record
