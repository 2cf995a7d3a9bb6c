// An echo factor, weights, and a place that was chosen, are kept over restarts, for the same stream
// only.
#include "engine/stream/kept_order.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/open/kept_echo_place.h"
#include "engine/small_stream.h"
#include "engine/stream/order_writer.h"

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

TEST_F(KeptOrderTest, TheNewestFilesStay) {
  namespace fs = std::filesystem;
  const auto kept = [this](std::uint8_t pipeline) {
    return KeptOrder(folder_, "train", Fingerprint{pipeline, 1});
  };
  kept(0).save({.factor = 2000, .weights = {}});
  // A write that was cut off, and 254 pipelines of earlier days.
  std::ofstream(folder_ + "/factors/train.cutoff.595f");
  for (int pipeline = 1; pipeline < 255; ++pipeline) {
    kept(static_cast<std::uint8_t>(pipeline)).save({.factor = 3000, .weights = {}});
  }
  for (const auto& entry : fs::directory_iterator(folder_ + "/factors")) {
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(24));
  }
  EXPECT_EQ(kept(0).load().factor, 2000U) << "and is in use from now on";
  for (std::uint8_t more = 0; more < 50; ++more) {
    KeptOrder(folder_, "other", Fingerprint{more}).save({.factor = 4000, .weights = {}});
  }
  const auto count =
      std::distance(fs::directory_iterator(folder_ + "/factors"), fs::directory_iterator());
  EXPECT_EQ(count, 256);
  EXPECT_EQ(kept(0).load().factor, 2000U);
}

TEST_F(KeptOrderTest, TheWriterKeepsWhatWasSetLastUntilTheStreamIsDeleted) {
  SmallStream small;
  const std::shared_ptr<StreamCore> core = small.open().core;
  const KeptOrder kept(folder_, core->name, core->ring_spec.fingerprint);
  for (const bool is_deleted : {false, true}) {
    {
      OrderWriter writer(folder_);
      for (std::uint32_t factor = 1001; factor <= 1100; ++factor) {
        writer.write(*core, {.factor = factor, .weights = {}});
      }
      writer.write(*core, {.factor = {}, .weights = Weights{1, 2}});
      if (is_deleted) writer.remove(*core);
    }
    EXPECT_EQ(kept.load().factor, is_deleted ? std::nullopt : std::optional(1100U));
    EXPECT_EQ(kept.load().weights, is_deleted ? std::nullopt : std::optional(Weights{1, 2}));
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
