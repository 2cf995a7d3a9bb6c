// Errors that occur after the configuration was read get the location of the value they are about.
#include "config/error_location.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "config/load.h"

namespace echoline::config {
namespace {

class ErrorLocation : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "location-XXXXXX";
    ASSERT_NE(::mkstemp(pattern.data()), -1);
    path_ = pattern;
    std::ofstream(path_) << "daemon:\n"
                            "  memory: 64MiB\n"
                            "  control: {operators: [root]}\n"
                            "streams:\n"
                            "  train:\n"
                            "    pipeline:\n"
                            "      - read: {url: /data/a.tar}\n"
                            "      - decode:\n"
                            "          image: {key: jpg, as: rgb}\n"
                            "          image_2: {key: png, as: rgb}\n"
                            "      - echo: {factor: 2, window: 40}\n"
                            "      - resize: {field: image, size: [8, 8]}\n"
                            "      - resize: {field: image_2, size: [8, 8]}\n"
                            "      - batch: {size: 8}\n"
                            "  mixed:\n"
                            "    pipeline:\n"
                            "      - mix:\n"
                            "          sources:\n"
                            "            - {name: web, weight: 1, read: {url: /data/w.tar}}\n"
                            "            - name: web_2\n"
                            "              weight: 2\n"
                            "              read: {url: /data/v.tar, throttle: {rate: 1MiB/s}}\n"
                            "      - shuffle: {window: 10}\n"
                            "      - decode: {image: {key: jpg, as: rgb}}\n"
                            "      - resize: {field: image, size: [8, 8]}\n"
                            "      - batch: {size: 8}\n";
    auto loaded = load_located_config_file(path_, {"streams.train.pipeline.batch.last=pad"});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    located_ = std::make_unique<LocatedConfig>(std::move(*loaded));
  }
  void TearDown() override { ::remove(path_.c_str()); }

  // The location without the file name; "" if there is none.
  std::string find_any(const std::string& text) const {
    const Status status =
        at_location(Status(Code::kInternal, text), *located_->config, located_->locations);
    EXPECT_TRUE(status.message().ends_with(text)) << status.message();
    if (status.message() == text) return "";
    const std::string where = status.message().substr(0, status.message().size() - text.size() - 2);
    return where.starts_with(path_) ? where.substr(path_.size()) : where;
  }
  std::string find(const std::string& text, const std::string& stream = "train") const {
    return find_any("stream '" + stream + "': " + text);
  }

  std::string path_;
  std::unique_ptr<LocatedConfig> located_;
};

TEST_F(ErrorLocation, OfAKeyOfAStepIsFound) {
  EXPECT_EQ(find("echo.window: with 2 a batch could hold two uses"), ":11:35");
  EXPECT_EQ(find("lower batch.size, or set echo.window"), ":14:23");
}

TEST_F(ErrorLocation, OfAStepOrFieldAloneIsFound) {
  EXPECT_EQ(find("echo: with batch.size 800"), ":11:9");
  EXPECT_EQ(find("sample 7 (key 7) in a.tar: field image_2 (png): none"), ":10:11");
  EXPECT_EQ(find("field image (jpg): none"), ":9:11");
  EXPECT_EQ(find("set echo.allow_repeats: true"), ":11:9");
}

TEST_F(ErrorLocation, OfAStepByItsNumberIsFound) {
  EXPECT_EQ(find("pipeline step 3 (echo): wrong"), ":11:9");
  EXPECT_EQ(find("pipeline step 5 (resize): wrong"), ":13:9");
  EXPECT_EQ(find("pipeline step 4 (echo): wrong"), ":7:21");
}

TEST_F(ErrorLocation, OfAnOverriddenValueIsTheOverride) {
  EXPECT_EQ(find("set batch.last to partial"), "--set streams.train.pipeline.batch.last=pad");
}

TEST_F(ErrorLocation, OfASourceOfAMixtureIsInThatSource) {
  EXPECT_EQ(find("mix: source web: no such file", "mixed"), ":19:50");
  EXPECT_EQ(find("mix: source web_2: field image (jpg): none", "mixed"), ":22:27");
  EXPECT_EQ(find("mix: field image of source web_2 is other than that of source web", "mixed"),
            ":22:27");
  EXPECT_EQ(find("mix: source web_2: read.throttle: too slow", "mixed"), ":22:40");
  EXPECT_EQ(find("resize: too large", "mixed"), ":25:9");
  EXPECT_EQ(find("no such file", "mixed"), ":19:50");
}

TEST_F(ErrorLocation, OfAKeyOfTheDaemonIsFoundOrTheNearestPlace) {
  EXPECT_EQ(find_any("daemon.memory is too small"), ":2:11");
  EXPECT_EQ(find_any("daemon.control.operators: nobody"), ":3:24");
  EXPECT_EQ(find_any("daemon.control.key: none"), ":3:3");
  EXPECT_EQ(find_any("in use; set daemon.metrics to off"), ":1:1");
  EXPECT_EQ(find("daemon.memory is too small: lower batch.size"), ":2:11");
  EXPECT_EQ(find("batch.size: raise daemon.memory"), ":14:23");
}

TEST_F(ErrorLocation, OfATextAboutNothingInTheConfigurationIsNone) {
  EXPECT_EQ(find_any("out of memory"), "");
  EXPECT_EQ(find_any("stream 'other': echo.window: too small"), "");
}

TEST_F(ErrorLocation, OfATextThatNamesNoKeyIsThatOfReadUrl) {
  EXPECT_EQ(find("no such file"), ":7:21");
  EXPECT_EQ(find("/data/echo.window: no such file"), ":7:21");
  EXPECT_EQ(find("publish.slots is not written"), ":7:21");
}

}  // namespace
}  // namespace echoline::config
