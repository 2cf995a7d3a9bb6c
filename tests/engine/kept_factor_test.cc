// An echo factor is kept over restarts, for the same stream only.
#include "engine/stream/kept_factor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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

TEST_F(KeptFactorTest, WithoutAStateFolderNothingIsKept) {
  const KeptFactor kept("", "train", fingerprint_);
  kept.save(2500);
  EXPECT_FALSE(kept.load().has_value());
}

}  // namespace
}  // namespace echoline::engine
