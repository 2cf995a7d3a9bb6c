// An echo factor, and a place that was chosen, are kept over restarts, for the same stream only.
#include "engine/stream/kept_factor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/open/kept_echo_place.h"

namespace echoline::engine {
namespace {

class KeptFactorTest : public testing::Test {
 protected:
  KeptFactorTest() { std::filesystem::create_directories(folder_); }
  ~KeptFactorTest() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = testing::TempDir() + "kept_factor_" + std::to_string(getpid());
  const Fingerprint fingerprint_{1, 2, 3};
};

TEST_F(KeptFactorTest, IsThereForTheSameStreamOnly) {
  const KeptFactor kept(folder_, "train", fingerprint_);
  EXPECT_FALSE(kept.load().has_value());
  kept.save(2500);
  EXPECT_EQ(KeptFactor(folder_, "train", fingerprint_).load(), 2500U);
  EXPECT_FALSE(KeptFactor(folder_, "train", Fingerprint{1, 2, 4}).load().has_value());
  EXPECT_FALSE(KeptFactor(folder_, "other", fingerprint_).load().has_value());
  kept.remove();
  EXPECT_FALSE(kept.load().has_value());
}

TEST_F(KeptFactorTest, DamageMeansThatNothingWasKept) {
  const KeptFactor kept(folder_, "train", fingerprint_);
  kept.save(2500);
  for (const std::string text : {"", "x", "\n"}) {
    std::ofstream(folder_ + "/factors/train." + to_hex(fingerprint_)) << text;
    EXPECT_FALSE(kept.load().has_value()) << text;
  }
}

TEST_F(KeptFactorTest, APlaceOfEchoIsThereForTheSameStepsOnly) {
  const KeptEchoPlace kept(folder_, "train");
  v1::Stream stream;
  stream.mutable_echo();
  stream.add_pipeline()->mutable_read();
  stream.add_pipeline()->mutable_decode();
  stream.add_pipeline()->mutable_batch()->set_size(8);
  EXPECT_FALSE(kept.load(stream).has_value());
  kept.save(stream, {2, "after 'decode': a test"});
  ASSERT_TRUE(kept.load(stream).has_value());
  EXPECT_EQ(kept.load(stream)->place, 2);
  EXPECT_EQ(kept.load(stream)->why, "after 'decode': a test");
  stream.mutable_pipeline(2)->mutable_batch()->set_size(16);
  EXPECT_TRUE(kept.load(stream).has_value()) << "settings may change";
  v1::Stream other = stream;
  other.mutable_pipeline(1)->mutable_shuffle();
  EXPECT_FALSE(kept.load(other).has_value());
  EXPECT_FALSE(KeptEchoPlace(folder_, "other").load(stream).has_value());
  for (const std::string text :
       {"", "{}", "[1]", R"({"place": 7, "steps": ["read", "decode", "batch"], "why": ""})",
        R"({"place": "2", "steps": ["read", "decode", "batch"], "why": ""})"}) {
    std::ofstream(folder_ + "/echo_places/train.json") << text;
    EXPECT_FALSE(kept.load(stream).has_value()) << text;
  }
  EXPECT_TRUE(kept.remove().ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/echo_places/train.json"));
}

TEST_F(KeptFactorTest, WithoutAStateFolderNothingIsKept) {
  const KeptFactor kept("", "train", fingerprint_);
  kept.save(2500);
  EXPECT_FALSE(kept.load().has_value());
}

}  // namespace
}  // namespace echoline::engine
