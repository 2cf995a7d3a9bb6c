// An echo factor, weights, and a place that was chosen, are kept over restarts, for the same stream
// only.
#include "engine/stream/kept_order.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/open/kept_echo_place.h"

namespace echoline::engine {
namespace {

class KeptOrderTest : public testing::Test {
 protected:
  KeptOrderTest() { std::filesystem::create_directories(folder_); }
  ~KeptOrderTest() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = testing::TempDir() + "kept_order_" + std::to_string(getpid());
  const Fingerprint fingerprint_{1, 2, 3};
};

TEST_F(KeptOrderTest, IsThereForTheSameStreamOnly) {
  const KeptOrder kept(folder_, "train", fingerprint_);
  EXPECT_TRUE(kept.load().empty());
  kept.save({.factor = 2500, .weights = {}});
  kept.save({.factor = {}, .weights = Weights{700, 0, 300}});
  const OrderSettings loaded = KeptOrder(folder_, "train", fingerprint_).load();
  EXPECT_EQ(loaded.factor, 2500U);
  EXPECT_EQ(loaded.weights, (Weights{700, 0, 300}));
  EXPECT_TRUE(KeptOrder(folder_, "train", Fingerprint{1, 2, 4}).load().empty());
  EXPECT_TRUE(KeptOrder(folder_, "other", fingerprint_).load().empty());
  kept.remove();
  EXPECT_TRUE(kept.load().empty());
}

TEST_F(KeptOrderTest, DamageMeansThatNothingWasKept) {
  const KeptOrder kept(folder_, "train", fingerprint_);
  kept.save({.factor = 2500, .weights = Weights{700, 300}});
  for (const std::string text : {"", "x", "\n", "700 x"}) {
    std::ofstream(folder_ + "/factors/train." + to_hex(fingerprint_)) << text;
    std::ofstream(folder_ + "/weights/train." + to_hex(fingerprint_)) << text;
    EXPECT_TRUE(kept.load().empty()) << text;
  }
}

TEST_F(KeptOrderTest, APlaceOfEchoIsThereForTheSameStepsOnly) {
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

TEST_F(KeptOrderTest, WithoutAStateFolderNothingIsKept) {
  const KeptOrder kept("", "train", fingerprint_);
  kept.save({.factor = 2500, .weights = Weights{700, 300}});
  EXPECT_TRUE(kept.load().empty());
}

}  // namespace
}  // namespace echoline::engine
