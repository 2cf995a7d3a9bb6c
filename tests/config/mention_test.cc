// Errors that are found after reading still get a place in the text.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "config/error_location.h"
#include "config/load.h"

namespace echoline::config {
namespace {

class Mention : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "mention-XXXXXX";
    ASSERT_NE(::mkstemp(pattern.data()), -1);
    path_ = pattern;
    std::ofstream(path_) << "streams:\n"
                            "  train:\n"
                            "    pipeline:\n"
                            "      - read: {url: /data/a.tar}\n"
                            "      - decode:\n"
                            "          image: {key: jpg, as: rgb}\n"
                            "          image_2: {key: png, as: rgb}\n"
                            "      - echo: {factor: 2, window: 40}\n"
                            "      - resize: {field: image, size: [8, 8]}\n"
                            "      - resize: {field: image_2, size: [8, 8]}\n"
                            "      - batch: {size: 8}\n";
    auto loaded = load_placed_config_file(path_, {"streams.train.pipeline.batch.last=pad"});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    placed_ = std::make_unique<PlacedConfig>(std::move(*loaded));
  }
  void TearDown() override { ::remove(path_.c_str()); }

  // Without the file's name.
  std::string place(const std::string& text) const {
    const std::string where =
        place_of_error(placed_->config->streams().at("train"), placed_->places, text);
    return where.starts_with(path_) ? where.substr(path_.size()) : where;
  }

  std::string path_;
  std::unique_ptr<PlacedConfig> placed_;
};

TEST_F(Mention, of_a_key_of_a_step_is_found) {
  EXPECT_EQ(place("echo.window: with 2 a batch could hold two uses"), ":8:35");
  EXPECT_EQ(place("lower batch.size, or set echo.window"), ":11:23");
}

TEST_F(Mention, of_a_step_or_field_alone_is_found) {
  EXPECT_EQ(place("echo: with batch.size 800"), ":8:9");
  EXPECT_EQ(place("sample 7 (key 7) in a.tar: field image_2 (png): none"), ":7:11");
  EXPECT_EQ(place("field image (jpg): none"), ":6:11");
  EXPECT_EQ(place("set echo.allow_repeats: true"), ":8:9");
}

TEST_F(Mention, of_a_step_by_its_number_is_found) {
  EXPECT_EQ(place("pipeline step 3 (echo): wrong"), ":8:9");
  EXPECT_EQ(place("pipeline step 5 (resize): wrong"), ":10:9");
  EXPECT_EQ(place("pipeline step 4 (echo): wrong"), ":4:21");
}

TEST_F(Mention, of_an_overridden_value_is_the_override) {
  EXPECT_EQ(place("set batch.last to partial"), "--set streams.train.pipeline.batch.last=pad");
}

TEST_F(Mention, that_is_missing_or_part_of_a_path_leaves_the_address) {
  EXPECT_EQ(place("no such file"), ":4:21");
  EXPECT_EQ(place("/data/echo.window: no such file"), ":4:21");
  EXPECT_EQ(place("publish.slots is not written"), ":4:21");
}

}  // namespace
}  // namespace echoline::config
