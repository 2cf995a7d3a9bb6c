// The disk cache on a real file system: written records are found again, by other processes and
// after a restart; damaged, replaced and excess records are detected.
#include "cache/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cache/made_records.h"
#include "serve/scratch_folder.h"

namespace echoline::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBytes = 10'000;

class DiskCaches : public testing::Test {
 protected:
  std::unique_ptr<DiskCache> open(std::uint64_t cap = 1 << 30, const std::string& set = "a",
                                  std::uint64_t wanted = 0,
                                  std::function<bool(const Hash128&)> is_wanted = {}) const {
    auto cache = DiskCache::open({.path = folder_.file("cache"),
                                  .cap_bytes = cap,
                                  .set = set,
                                  .wanted_bytes = wanted,
                                  .pending_bytes_max = 64 << 20,
                                  .is_wanted = std::move(is_wanted)});
    EXPECT_TRUE(cache.ok()) << cache.status().message();
    return std::move(cache).value();
  }
  static void write(DiskCache& cache, std::uint64_t first, std::uint64_t count,
                    const std::string& version = "v1") {
    for (std::uint64_t record = first; record < first + count; ++record) {
      cache.offer(made_key(record, version), shared_record(record, kBytes));
    }
    while (cache.has_pending()) cache.flush();
  }
  // How many of the records the cache has; a wrong byte fails the test.
  static std::uint64_t hits(DiskCache& cache, std::uint64_t first, std::uint64_t count,
                            const std::string& version = "v1") {
    std::uint64_t hits = 0;
    Buffer bytes(kBytes);
    for (std::uint64_t record = first; record < first + count; ++record) {
      if (cache.read(made_key(record, version), bytes.span()) != DiskCache::Read::kHit) continue;
      EXPECT_TRUE(is_made_record(record, bytes.span())) << record;
      ++hits;
    }
    return hits;
  }
  fs::path file(const std::string& name, const std::string& set = "a") const {
    return fs::path(folder_.path()) / "cache" / ("set-" + set) / name;
  }
  std::uint64_t bytes_on_disk() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(folder_.path()) / "cache")) {
      struct stat about {};
      if (entry.is_regular_file() && ::stat(entry.path().c_str(), &about) == 0) {
        bytes += static_cast<std::uint64_t>(about.st_blocks) * 512;
      }
    }
    return bytes;
  }
  void overwrite(const fs::path& path, std::uint64_t offset, const std::string& text) const {
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream << text;
  }

  serve::ScratchFolder folder_;
};

TEST_F(DiskCaches, WrittenRecordsAreFoundAfterARestart) {
  write(*open(), 0, 50);
  const auto cache = open();
  EXPECT_EQ(hits(*cache, 0, 60), 50U);
  EXPECT_EQ(cache->bytes(), 50 * kBytes);
}

TEST_F(DiskCaches, RecordsThatAreNotYetWrittenAreFoundToo) {
  const auto cache = open();
  cache->offer(made_key(1), shared_record(1, kBytes));
  EXPECT_TRUE(cache->holds(made_key(1), kBytes));
  EXPECT_EQ(hits(*cache, 1, 1), 1U);
}

TEST_F(DiskCaches, AnotherVersionIsAMissAndReplacesTheOldOne) {
  const auto cache = open();
  write(*cache, 0, 20);
  EXPECT_EQ(hits(*cache, 0, 20, "v2"), 0U);
  for (const std::string version : {"v2", "v3", "v4", "v5"}) write(*cache, 0, 20, version);
  EXPECT_EQ(hits(*cache, 0, 20, "v5"), 20U);
  EXPECT_EQ(hits(*cache, 0, 20), 0U);
  EXPECT_LT(bytes_on_disk(), 2 * 20 * (kBytes + 4096)) << "the space of old versions must be freed";
}

TEST_F(DiskCaches, FlippedBytesAreAMissAndCountedAndReplaced) {
  write(*open(), 0, 10);
  overwrite(file("data"), 3 * kBytes + 17, "x");
  overwrite(file("data"), 8 * kBytes + 9000, "yz");
  const auto cache = open();
  EXPECT_EQ(hits(*cache, 0, 10), 8U);
  EXPECT_EQ(cache->failures().corrupt.load(), 2U);
  write(*cache, 0, 10);
  EXPECT_EQ(hits(*cache, 0, 10), 10U);
  EXPECT_EQ(hits(*open(), 0, 10), 10U) << "also after a restart";
}

TEST_F(DiskCaches, ADamagedLogLosesOnlyTheEntriesAfterTheDamage) {
  for (const std::uint64_t at : {std::uint64_t{3}, kHeaderBytes + 4 * kEntryBytes + 5}) {
    write(*open(), 0, 10);
    overwrite(file("log"), at, "????????");
    const auto cache = open();
    EXPECT_EQ(hits(*cache, 0, 10), at < kHeaderBytes ? 0U : 4U);
    write(*cache, 0, 10);
    EXPECT_EQ(hits(*cache, 0, 10), 10U);
  }
}

TEST_F(DiskCaches, DamageWhileOthersHaveTheLogOpenCostsNoRoom) {
  constexpr std::uint64_t kCap = 12 * (kBytes + kEntryBytes);
  const auto first = open(kCap);
  write(*first, 0, 10);
  overwrite(file("log"), kHeaderBytes + 4 * kEntryBytes + 5, "????????");
  const auto second = open(kCap);
  EXPECT_EQ(hits(*second, 0, 10), 4U);
  // Reads the log that the second daemon has cut, and adds to what is left.
  write(*first, 10, 2);
  EXPECT_EQ(fs::file_size(file("log")), kHeaderBytes + 6 * kEntryBytes);
  write(*second, 0, 10);
  for (const auto& cache : {first.get(), second.get()}) {
    cache->refresh();
    EXPECT_EQ(hits(*cache, 0, 12), 11U) << "the header takes the room of one";
    EXPECT_EQ(cache->failures().full.load(), cache == first.get() ? 0U : 1U);
  }
}

TEST_F(DiskCaches, ADamagedCountOfUsedBytesIsCorrected) {
  constexpr std::uint64_t kCap = 20 * (kBytes + kEntryBytes);
  const auto cache = open(kCap);
  write(*cache, 0, 10);
  overwrite(file("log"), offsetof(DiskHeader, used_bytes), "????????");  // too large
  write(*cache, 10, 9);
  EXPECT_EQ(hits(*cache, 0, 19), 19U);
  overwrite(file("log"), offsetof(DiskHeader, used_bytes), std::string(8, '\0'));
  write(*cache, 19, 5);
  EXPECT_EQ(hits(*cache, 19, 5), 0U) << "beyond the cap";
  EXPECT_GT(cache->failures().full.load(), 0U);
}

TEST_F(DiskCaches, FilesTruncatedAnywhereAreRecovered) {
  for (const std::uint64_t part : {0, 1, 5, 9, 10}) {
    fs::remove_all(fs::path(folder_.path()) / "cache");
    write(*open(), 0, 10);
    fs::resize_file(file("data"), fs::file_size(file("data")) * part / 10);
    fs::resize_file(file("log"), fs::file_size(file("log")) * (10 - part / 2) / 10);
    const auto cache = open();
    EXPECT_LE(hits(*cache, 0, 10), part);
    write(*cache, 0, 10);
    EXPECT_EQ(hits(*cache, 0, 10), 10U) << part;
  }
}

TEST_F(DiskCaches, TheCapHoldsForAllDataSetsTogether) {
  constexpr std::uint64_t kCap = 40 * (kBytes + kEntryBytes);
  const auto one = open(kCap, "a");
  const auto other = open(kCap, "b");
  write(*one, 0, 25);
  write(*other, 0, 25);
  EXPECT_EQ(hits(*one, 0, 25), 25U);
  const std::uint64_t rest = hits(*other, 0, 25);
  EXPECT_GE(rest, 14U);
  EXPECT_LT(rest, 16U);
  EXPECT_GT(other->failures().full.load(), 0U);
  EXPECT_LE(fs::file_size(file("data", "a")) + fs::file_size(file("log", "a")) +
                fs::file_size(file("data", "b")) + fs::file_size(file("log", "b")),
            kCap);
}

TEST_F(DiskCaches, AnUnusedDataSetIsRemovedForRoom) {
  constexpr std::uint64_t kCap = 40 * (kBytes + kEntryBytes);
  write(*open(kCap, "old"), 0, 39);
  const auto cache = open(kCap, "new", 30 * kBytes);
  EXPECT_TRUE(fs::exists(file("log", "old"))) << "it must stay until room is needed";
  write(*cache, 0, 30);
  EXPECT_FALSE(fs::exists(file("log", "old")));
  EXPECT_EQ(hits(*cache, 0, 30), 30U);
}

TEST_F(DiskCaches, AFolderWithOtherFilesIsNeverRemoved) {
  const auto write_file = [this](const std::string& name, const std::string& set) {
    fs::create_directories(file("", set));
    std::ofstream(file(name, set)) << "irreplaceable";
  };
  write_file("photo.jpg", "of-photos");  // in a folder of the user
  write(*open(1 << 20, "old"), 0, 60);
  write_file("notes.txt", "old");  // a file of the user in a folder of the cache
  const auto cache = open(1 << 20, "new");
  write(*cache, 100, 90);
  EXPECT_EQ(hits(*cache, 100, 90), 90U);
  EXPECT_FALSE(fs::exists(file("data", "old")));
  EXPECT_TRUE(fs::exists(file("photo.jpg", "of-photos")));
  EXPECT_TRUE(fs::exists(file("notes.txt", "old")));
}

TEST_F(DiskCaches, ADataSetInUseIsNeverRemoved) {
  constexpr std::uint64_t kCap = 40 * (kBytes + kEntryBytes);
  const auto used = open(kCap, "old");
  write(*used, 0, 39);
  const auto cache = open(kCap, "new", 30 * kBytes);
  EXPECT_EQ(hits(*used, 0, 39), 39U);
}

TEST_F(DiskCaches, RecordsThatTheDataSetNoLongerHasAreRemovedForRoom) {
  constexpr std::uint64_t kCap = 40 * (kBytes + kEntryBytes);
  write(*open(kCap), 0, 39);
  const auto is_wanted = [](const Hash128& place) {
    for (std::uint64_t record = 30; record < 60; ++record) {
      if (place == made_key(record).location) return true;
    }
    return false;
  };
  const auto cache = open(kCap, "a", 30 * kBytes, is_wanted);
  EXPECT_EQ(hits(*cache, 0, 60), 9U) << "30 to 38 must stay";
  write(*cache, 30, 30);
  EXPECT_EQ(hits(*cache, 30, 30), 30U);
  EXPECT_EQ(hits(*open(kCap), 30, 30), 30U);
}

TEST_F(DiskCaches, ALowerCapTakesEffectAtTheStart) {
  const auto all = [](const Hash128&) { return true; };
  write(*open(1 << 30), 0, 300);
  constexpr std::uint64_t kLowered = 100 * kBytes;
  const auto cache = open(kLowered, "a", kLowered, all);
  EXPECT_LE(bytes_on_disk(), kLowered + 3 * 4096) << "log and data end in partly used pages";
  const std::uint64_t kept = hits(*cache, 0, 300);
  EXPECT_GE(kept, 95U);
  EXPECT_EQ(hits(*open(kLowered, "a", kLowered, all), 0, 300), kept) << "also after a restart";
}

TEST_F(DiskCaches, TheCapCountsWholePagesIfFewRecordsStay) {
  const auto few = [](const Hash128& place) { return place.low % 8 == 0; };
  constexpr std::uint64_t kSmall = 500;
  {
    const auto cache = open(1 << 30);
    for (std::uint64_t record = 0; record < 8000; ++record) {
      cache->offer(made_key(record), shared_record(record, kSmall));
    }
    while (cache->has_pending()) cache->flush();
  }
  constexpr std::uint64_t kLowered = 1 << 20;
  const auto cache = open(kLowered, "a", kLowered, few);
  EXPECT_LE(bytes_on_disk(), kLowered + (64 << 10)) << "dropped records share pages with kept ones";
  EXPECT_GT(cache->count(), 200U);
}

TEST_F(DiskCaches, TwoDaemonsWriteEachRecordOnce) {
  const auto one = open();
  const auto other = open();
  std::thread first([&] { write(*one, 0, 400); });
  write(*other, 0, 400);
  first.join();
  one->refresh();
  other->refresh();
  EXPECT_EQ(hits(*one, 0, 400), 400U);
  EXPECT_EQ(hits(*other, 0, 400), 400U);
  EXPECT_EQ(fs::file_size(file("data")), 400 * kBytes);
}

TEST_F(DiskCaches, AStoppedDaemonThatHoldsTheLockBlocksNobody) {
  const auto cache = open();
  const UniqueFd lock_file =
      std::move(open_file(fs::path(folder_.path()) / "cache" / "lock")).value();
  const FileLock lock(lock_file.get(), 0);
  ASSERT_TRUE(lock.held());
  cache->offer(made_key(1), shared_record(1, kBytes));
  const auto begin = std::chrono::steady_clock::now();
  cache->flush();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_FALSE(cache->has_pending());
  EXPECT_EQ(cache->failures().error.load(), 1U);
}

TEST_F(DiskCaches, AMillionEntriesAreRecoveredInSeconds) {
  write(*open(), 0, 1);
  {
    std::ifstream log(file("log"), std::ios::binary);
    DiskHeader header;
    DiskEntry entry;
    log.read(reinterpret_cast<char*>(&header), sizeof header);
    log.read(reinterpret_cast<char*>(&entry), sizeof entry);
    std::ofstream more(file("log"), std::ios::binary | std::ios::app);
    for (std::uint64_t i = 1; i < 1'000'000; ++i) {
      entry.location.low += 0x9E3779B97F4A7C15;
      entry.check = check_of(entry, header.generation);
      more.write(reinterpret_cast<const char*>(&entry), sizeof entry);
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto cache = open();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(cache->count(), 1'000'000U);
  RecordProperty("seconds", std::to_string(took.count()));
#if defined(ECHOLINE_SANITIZE_ADDRESS) || defined(ECHOLINE_SANITIZE_THREAD)
  EXPECT_LT(took.count(), 30.0);
#else
  EXPECT_LT(took.count(), 5.0);
#endif
}

}  // namespace
}  // namespace echoline::cache
