// Kept streams: their files and the calls that change them.
#include "serve/process/kept_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "config/load.h"
#include "serve/scratch_folder.h"

namespace echoline::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

v1::Config config_with(const std::string& stream, const std::string& window = "all") {
  const auto config = config::parse_config(
      "streams: {" + stream + ": {pipeline: [{read: {url: x}}, {shuffle: {window: " + window +
          "}}, {decode: {i: {key: jpg, as: rgb}}}, {random_resized_crop: {field: i, size: 8, "
          "scale: [0.1, 0.7]}}, {batch: {size: 2}}]}}",
      "t.yaml");
  EXPECT_TRUE(config.ok()) << config.status().message();
  return *config;
}

class KeptStreamsTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const {
    return folder_.file("state") + "/streams/" + name;
  }

  ScratchFolder folder_;
  KeptStreams kept_{folder_.file("state")};
};

TEST_F(KeptStreamsTest, ComeBackAsTheyWere) {
  const v1::Stream stream = config_with("a").streams().at("a");
  EXPECT_TRUE(kept_.load({}).empty());
  ASSERT_TRUE(kept_.keep("a", stream).ok());
  EXPECT_TRUE(kept_.contains("a"));
  KeptStreams next(folder_.file("state"));
  const auto streams = next.load({});
  ASSERT_THAT(streams, ElementsAre(Key("a")));
  EXPECT_EQ(streams.at("a").SerializeAsString(), stream.SerializeAsString());
  EXPECT_TRUE(next.contains("a"));
  EXPECT_TRUE(*next.remove("a"));
  EXPECT_FALSE(*next.remove("a"));
  EXPECT_FALSE(next.contains("a"));
  EXPECT_TRUE(KeptStreams(folder_.file("state")).load({}).empty());
}

TEST_F(KeptStreamsTest, GiveWayToTheConfiguration) {
  ASSERT_TRUE(kept_.keep("a", config_with("a").streams().at("a")).ok());
  KeptStreams next(folder_.file("state"));
  EXPECT_TRUE(next.load(config_with("a", "5")).empty());
  EXPECT_FALSE(next.contains("a"));
  EXPECT_THAT(next.load({}), ElementsAre(Key("a")));
  std::ofstream(file("a.json")) << "no stream at all";
  KeptStreams damaged(folder_.file("state"));
  EXPECT_TRUE(damaged.load(config_with("a")).empty());
  EXPECT_FALSE(damaged.contains("a"));
  EXPECT_TRUE(damaged.failures().empty());
}

TEST_F(KeptStreamsTest, ThatCannotBeReadStayAndDoNotStopTheOthers) {
  ASSERT_TRUE(kept_.keep("a", config_with("a").streams().at("a")).ok());
  std::ofstream(file("b.json")) << "{";
  std::ofstream(file("c.json")) << R"({"name": "c", "stream": {"of_a_later_version": 1}})";
  std::ofstream(file("d.json")) << R"({"name": "d", "stream": {}})";
  // The temporary file of a daemon that died while it wrote.
  std::filesystem::copy(file("a.json"), file("a.Xy12zZ.json"));
  EXPECT_THAT(kept_.load({}), ElementsAre(Key("a")));
  for (const char* name : {"b.json", "c.json", "d.json"}) {
    EXPECT_TRUE(std::filesystem::exists(file(name)));
  }
  EXPECT_THAT(kept_.failures(), ElementsAre(Key("b"), Key("c"), Key("d")));
  EXPECT_THAT(kept_.failures().at("b"), HasSubstr("/streams/b.json: this kept stream cannot be"));
  EXPECT_TRUE(*kept_.remove("b"));
  ASSERT_TRUE(kept_.keep("c", config_with("c").streams().at("c")).ok());
  EXPECT_THAT(kept_.failures(), ElementsAre(Key("d")));
}

TEST_F(KeptStreamsTest, AreFilesOfABoundedSize) {
  ASSERT_TRUE(kept_.keep("a", config_with("a").streams().at("a")).ok());
  ASSERT_EQ(::mkfifo(file("fifo.json").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", file("endless.json"));
  std::ofstream(file("large.json")) << std::string(2 << 20, ' ');
  EXPECT_THAT(kept_.load({}), ElementsAre(Key("a")));
}

TEST_F(KeptStreamsTest, AreInTheirFolderWhateverTheName) {
  std::ofstream(folder_.file("precious.json")) << "{}";
  EXPECT_FALSE(kept_.remove("../../precious").ok());
  EXPECT_TRUE(std::filesystem::exists(folder_.file("precious.json")));
}

TEST_F(KeptStreamsTest, ThatCannotBeWrittenAreAnError) {
  std::ofstream(folder_.file("state")) << "a file";
  const Status status = kept_.keep("a", config_with("a").streams().at("a"));
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(kept_.contains("a"));
}

}  // namespace
}  // namespace echoline::serve
