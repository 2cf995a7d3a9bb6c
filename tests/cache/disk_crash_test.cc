// A daemon that is killed at any point, and a full disk: no wrong byte, no manual step.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "cache/disk_cache.h"
#include "cache/made_records.h"
#include "serve/scratch_folder.h"

namespace echoline::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRecords = 300;

std::uint64_t bytes_of_record(std::uint64_t record) { return 5000 + record * 137 % 20'000; }

std::unique_ptr<DiskCache> open(const std::string& path) {
  auto cache = DiskCache::open(
      {.path = path, .cap_bytes = 1 << 30, .set = "a", .pending_bytes_max = 64 << 20});
  return cache.ok() ? std::move(cache).value() : nullptr;
}

// Reads and writes endlessly, as a stream does; some records change their version in each round, so
// that the cache frees and reuses their space.
[[noreturn]] void work(const std::string& path, unsigned seed) {
  const auto cache = open(path);
  std::mt19937 random(seed);
  for (unsigned round = 0;; ++round) {
    for (unsigned i = 0; i < kRecords; ++i) {
      const std::uint64_t record = random() % kRecords;
      const std::string version = record % 3 == 0 ? "v" + std::to_string(random() % 4) : "v1";
      cache->offer(made_key(record, version), shared_record(record, bytes_of_record(record)));
      if (i % 16 == 0) cache->flush();
    }
    while (cache->has_pending()) cache->flush();
  }
}

// How many records the cache has in any version; a wrong byte fails the test.
std::uint64_t check_all(DiskCache& cache) {
  std::uint64_t hits = 0;
  for (std::uint64_t record = 0; record < kRecords; ++record) {
    Buffer bytes(bytes_of_record(record));
    for (const char* version : {"v0", "v1", "v2", "v3"}) {
      if (cache.read(made_key(record, version), bytes.span()) != DiskCache::Read::kHit) continue;
      EXPECT_TRUE(is_made_record(record, bytes.span())) << record;
      ++hits;
    }
  }
  return hits;
}

// ECHOLINE_ALL_CASES=1 sets a hundred kills.
TEST(DiskCrash, AKillAtAnyPointLeavesNoWrongByteAndNeedsNoManualStep) {
  const serve::ScratchFolder folder;
  const std::string path = folder.file("cache");
  const int rounds = std::getenv("ECHOLINE_ALL_CASES") != nullptr ? 100 : 15;
  std::mt19937 random(std::random_device{}());
  std::uint64_t hits = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<pid_t> daemons;
    for (unsigned i = 0; i < 2; ++i) {
      const pid_t child = ::fork();
      if (child == 0) work(path, static_cast<unsigned>(random()) + i);
      daemons.push_back(child);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(5000 + random() % 120'000));
    for (const pid_t daemon : daemons) ::kill(daemon, SIGKILL);
    for (const pid_t daemon : daemons) ::waitpid(daemon, nullptr, 0);
    const auto cache = open(path);
    ASSERT_NE(cache, nullptr);
    hits = check_all(*cache);
    EXPECT_LE(cache->failures().corrupt.load(), kRecords / 3)
        << "only a value in replacement may lose its space before its entry";
    ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
  }
  EXPECT_GT(hits, kRecords / 2);
}

// After a power failure any page may be the old or the new one.
TEST(DiskCrash, PagesThatNeverReachedTheDiskAreDetected) {
  const serve::ScratchFolder folder;
  const std::string path = folder.file("cache");
  std::mt19937 random(7);
  for (int round = 0; round < 10; ++round) {
    {
      const auto cache = open(path);
      for (std::uint64_t record = 0; record < kRecords; ++record) {
        cache->offer(made_key(record), shared_record(record, bytes_of_record(record)));
      }
      while (cache->has_pending()) cache->flush();
    }
    for (const char* name : {"data", "log"}) {
      std::fstream file(path + "/set-a/" + name, std::ios::in | std::ios::out | std::ios::binary);
      const std::uint64_t pages = fs::file_size(path + "/set-a/" + name) / 4096;
      for (std::uint64_t lost = 0; lost < pages / 20 + 1; ++lost) {
        file.seekp(static_cast<std::streamoff>(random() % (pages + 1) * 4096));
        file << std::string(4096, '\0');
      }
    }
    check_all(*open(path));
  }
}

// Only root can mount a small tmpfs in a new namespace; other users skip the test.
TEST(DiskCrash, AFullDiskLosesValuesAndIsCounted) {
  const serve::ScratchFolder folder;
  const std::string path = folder.file("small");
  fs::create_directories(path);
  if (::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  }
  {
    const auto cache = open(path);
    ASSERT_NE(cache, nullptr);
    for (std::uint64_t record = 0; record < kRecords; ++record) {
      cache->offer(made_key(record), shared_record(record, bytes_of_record(record)));
      if (record % 20 == 19) cache->flush();
    }
    while (cache->has_pending()) cache->flush();
    EXPECT_GT(cache->failures().full.load(), 0U);
    EXPECT_GT(check_all(*cache), 50U) << "values that had room must be served";
  }
  EXPECT_GT(check_all(*open(path)), 50U);
  ::umount2(path.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace echoline::cache
