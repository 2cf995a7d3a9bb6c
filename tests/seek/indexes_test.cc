// Seek indexes: which ones are kept, what the next start finds, and that damage never changes them.
#include "seek/indexes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace echoline::seek {
namespace {

constexpr std::uint64_t kRoom = 1 << 20;

// The bytes of a made file, and its points.
std::string text_of(std::uint64_t file) { return "file " + std::to_string(file); }

jpeg::Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::vector<jpeg::SeekPoint> points_of(std::uint64_t file) {
  std::vector<jpeg::SeekPoint> points(1 + file % 7);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].bit = static_cast<std::uint32_t>(1000 * i + file);
    points[i].dc = {static_cast<std::int16_t>(file), -1, static_cast<std::int16_t>(i)};
  }
  return points;
}

void offer(Indexes& indexes, std::uint64_t file) {
  const std::string text = text_of(file);
  indexes.offer(file, bytes_of(text), points_of(file));
}

// Whether there is an index. If so, it must be the right one.
bool holds(Indexes& indexes, std::uint64_t file) {
  const std::string text = text_of(file);
  const jpeg::SeekPoints found = indexes.find(file, bytes_of(text));
  if (found.empty()) return false;
  EXPECT_EQ(std::vector<jpeg::SeekPoint>(found.begin(), found.end()), points_of(file));
  return true;
}

std::uint64_t held(Indexes& indexes, std::uint64_t files) {
  std::uint64_t count = 0;
  for (std::uint64_t file = 0; file < files; ++file) count += holds(indexes, file) ? 1 : 0;
  return count;
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class SeekIndexes : public testing::Test {
 protected:
  SeekIndexes() {
    std::string made = (std::filesystem::temp_directory_path() / "seek-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
  }
  ~SeekIndexes() override { std::filesystem::remove_all(folder_); }

  Indexes::Options options(std::uint64_t files) const {
    return {.files = files,
            .capacity_bytes = kRoom,
            .path = path(),
            .identity = 5,
            .unused_bytes_max = kRoom};
  }
  std::string path(const std::string& name = "one") const {
    return folder_ + "/seek/" + name + ".seek";
  }
  void fill(std::uint64_t files) const {
    Indexes indexes(options(files));
    for (std::uint64_t file = 0; file < files; ++file) offer(indexes, file);
  }

 private:
  std::string folder_;
};

TEST_F(SeekIndexes, AreFoundOnlyForTheSameBytesUnderTheSameNumber) {
  Indexes indexes({.files = 3, .capacity_bytes = kRoom});
  EXPECT_FALSE(holds(indexes, 1));
  offer(indexes, 1);
  EXPECT_TRUE(holds(indexes, 1));
  const std::string other = "file 1 with other bytes";
  EXPECT_TRUE(indexes.find(1, bytes_of(other)).empty());
  EXPECT_TRUE(indexes.find(2, bytes_of(text_of(1))).empty());
  // The first one stays.
  indexes.offer(1, bytes_of(other), points_of(3));
  EXPECT_TRUE(holds(indexes, 1));
  indexes.offer(2, bytes_of(text_of(2)), {});
  EXPECT_FALSE(holds(indexes, 2));
  EXPECT_EQ(indexes.hits(), 2U);
  EXPECT_EQ(indexes.misses(), 4U);
}

TEST_F(SeekIndexes, ThatWereClosedKeepWhatTheyHaveAndTakeNoMore) {
  Indexes indexes({.files = 3, .capacity_bytes = kRoom});
  offer(indexes, 1);
  EXPECT_EQ(indexes.close(), indexes.bytes());
  offer(indexes, 2);
  EXPECT_TRUE(holds(indexes, 1));
  EXPECT_FALSE(holds(indexes, 2));
}

TEST_F(SeekIndexes, AreSpreadEvenlyIfThereIsNoRoomForAll) {
  constexpr std::uint64_t kFiles = 20'000;
  Indexes indexes({.files = kFiles, .capacity_bytes = kRoom});
  for (std::uint64_t file = 0; file < kFiles; ++file) offer(indexes, file);
  EXPECT_LE(indexes.bytes(), kRoom);
  EXPECT_GT(indexes.bytes(), kRoom * 95 / 100);
  const std::uint64_t all = held(indexes, kFiles);
  const std::uint64_t first_half = held(indexes, kFiles / 2);
  EXPECT_GT(all, 5000U);
  EXPECT_NEAR(static_cast<double>(first_half), static_cast<double>(all) / 2,
              static_cast<double>(all) / 20);
}

TEST_F(SeekIndexes, AreThereAfterARestart) {
  fill(300);
  {
    Indexes indexes(options(600));
    EXPECT_EQ(held(indexes, 600), 300U);
    EXPECT_EQ(indexes.hits(), 300U);
    for (std::uint64_t file = 300; file < 600; ++file) offer(indexes, file);
    // The file has one user. Another one has its own in memory.
    Indexes second(options(600));
    EXPECT_EQ(held(second, 600), 0U);
    offer(second, 1);
    EXPECT_TRUE(holds(second, 1));
  }
  Indexes indexes(options(600));
  EXPECT_EQ(held(indexes, 600), 600U);
}

TEST_F(SeekIndexes, OfOtherDataAreNotThere) {
  fill(20);
  Indexes::Options other = options(20);
  other.identity = 6;
  {
    Indexes indexes(other);
    EXPECT_EQ(held(indexes, 20), 0U);
  }
  Indexes indexes(options(20));
  EXPECT_EQ(held(indexes, 20), 0U);
}

// `holds` checks that what is found is right.
TEST_F(SeekIndexes, OfADamagedFileAreRightOrNotThere) {
  constexpr std::uint64_t kFiles = 12;
  fill(kFiles);
  const std::string good = read_file(path());
  ASSERT_GT(good.size(), 500U);
  for (std::size_t at = 0; at < good.size(); at += 3) {
    std::string broken = good;
    broken[at] = static_cast<char>(broken[at] ^ (1 << at / 3 % 8));
    write_file(path(), broken);
    {
      Indexes indexes(options(kFiles));
      // The last bytes of the header have no meaning.
      ASSERT_EQ(held(indexes, kFiles) < kFiles, at < 24 || at >= 32) << at;
      for (std::uint64_t file = 0; file < kFiles; ++file) offer(indexes, file);
    }
    Indexes indexes(options(kFiles));
    ASSERT_EQ(held(indexes, kFiles), kFiles) << at;
  }
}

TEST_F(SeekIndexes, OfACutFileAreThoseBeforeTheCut) {
  constexpr std::uint64_t kFiles = 12;
  fill(kFiles);
  const std::string good = read_file(path());
  std::uint64_t last = 0;
  for (std::size_t length = 0; length < good.size(); length += 3) {
    write_file(path(), good.substr(0, length));
    Indexes indexes(options(kFiles));
    const std::uint64_t now = held(indexes, kFiles);
    ASSERT_GE(now, last);
    ASSERT_LT(now, kFiles);
    last = now;
  }
  EXPECT_EQ(last, kFiles - 1);
}

TEST_F(SeekIndexes, StayInMemoryIfTheFileCannotBeUsed) {
  Indexes::Options elsewhere = options(5);
  elsewhere.path = "/proc/seek/one.seek";
  Indexes indexes(elsewhere);
  offer(indexes, 4);
  EXPECT_TRUE(holds(indexes, 4));
}

TEST_F(SeekIndexes, ThatNobodyUsedForLongestAreRemovedFromTheFolder) {
  fill(1);
  const std::filesystem::path folder = std::filesystem::path(path()).parent_path();
  const auto now = std::filesystem::file_time_type::clock::now();
  for (int age = 1; age <= 4; ++age) {
    const std::string old = path("old" + std::to_string(age));
    write_file(old, std::string(kRoom / 2, 'x'));
    std::filesystem::last_write_time(old, now - std::chrono::hours(age));
  }
  write_file((folder / "other").string(), std::string(kRoom, 'x'));
  Indexes indexes(options(1));
  EXPECT_TRUE(holds(indexes, 0));
  EXPECT_TRUE(std::filesystem::exists(path("old1")));
  EXPECT_TRUE(std::filesystem::exists(path("old2")));
  EXPECT_FALSE(std::filesystem::exists(path("old3")));
  EXPECT_FALSE(std::filesystem::exists(path("old4")));
  EXPECT_TRUE(std::filesystem::exists(folder / "other"));
}

}  // namespace
}  // namespace echoline::seek
