#include "user_code/kept_verdicts.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace echoline::user_code {
namespace {

constexpr std::size_t kMost = 65'536;

UseKey key(std::uint64_t sample) {
  UseKey key{};
  key.sample = sample;
  return key;
}

// A file with this many verdicts, of the longest possible lines.
std::string file_of(std::size_t count) {
  const std::string path =
      std::filesystem::path(testing::TempDir()) / fmt::format("kept_verdicts.{}", ::getpid());
  std::ofstream file(path);
  for (std::size_t i = 0; i < count; ++i)
    file << fmt::format("18446744073709551615 {} 18446744073709551615\n", ~std::uint64_t{i});
  return path;
}

TEST(KeptVerdicts, ThereAreNeverMoreThanTheBound) {
  const std::string path = file_of(kMost - 1);
  KeptVerdicts verdicts;
  verdicts.add(key(9));
  EXPECT_EQ(verdicts.count(), 0U) << "the stream is not open yet";
  verdicts.start(path);
  EXPECT_EQ(verdicts.count(), kMost - 1);
  for (std::uint64_t sample = 0; sample < 3; ++sample) verdicts.add(key(sample));
  EXPECT_EQ(verdicts.count(), kMost);
  EXPECT_TRUE(verdicts.has(key(0)));
  EXPECT_FALSE(verdicts.has(key(1)));
  KeptVerdicts next;
  next.start(path);
  EXPECT_EQ(next.count(), kMost);
  EXPECT_TRUE(next.has(key(0)));
  next.start(file_of(kMost + 9));
  EXPECT_EQ(next.count(), kMost);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace echoline::user_code
