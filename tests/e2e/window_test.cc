// How records of a shuffle window are read: together, since they are neighbours in their shards.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "e2e/rig.h"

namespace echoline::e2e {
namespace {

constexpr std::uint64_t kRecords = 2000;
constexpr std::uint64_t kWindow = 200;

// Records of 32 KB: a gap of one is too long to be read.
std::string steps(std::uint64_t window, std::uint32_t batch) {
  return "      - shuffle: {window: " + std::to_string(window) +
         "}\n      - decode: {image: {key: u8, as: uint8, shape: [180, 180, 1]}}\n"
         "      - batch: {size: " +
         std::to_string(batch) + "}\n      - publish: {slots: 3}\n";
}

// Of files and stores, with those of the index.
std::uint64_t reads(Rig& rig) { return rig.engine().stats().streams.at(0).source.requests_ok; }

// The reads of one epoch.
std::uint64_t reads_of_epoch(Rig& rig) {
  const std::uint64_t before = reads(rig);
  Loader loader = rig.attach("train");
  std::uint64_t rows = 0;
  bool ended = false;
  while (!ended) {
    const std::optional<Batch> batch = loader.next();
    if (!batch.has_value()) break;
    rows += batch->valid_rows();
    ended = batch->last_of_epoch();
  }
  EXPECT_EQ(rows, kRecords);
  return reads(rig) - before;
}

TEST(ShuffleWindow, IsReadAsAWhole) {
  Rig rig({.shards = 1, .records_per_shard = kRecords, .side = 180});
  const Status created = rig.create("train", steps(kWindow, 16), "", ", read_ahead: 16MiB");
  ASSERT_TRUE(created.ok()) << created.message();
  // A read has 1 MiB, or 32 records. There are more reads at the borders of the windows, and for
  // the first slots, which were filled before the trainer came.
  EXPECT_LT(reads_of_epoch(rig), kRecords / 10);
}

// A window of 6.5 MB takes two seconds. Requested in the order of its shards, it would come almost
// at once.
TEST(ShuffleWindow, ComesBitByBitFromASlowStore) {
  using Clock = std::chrono::steady_clock;
  Rig rig({.shards = 1, .records_per_shard = kWindow + kWindow / 2, .side = 180});
  const Status created =
      rig.create("train", steps(kWindow, 2), "", ", read_ahead: 16MiB, throttle: {rate: 3MB/s}");
  ASSERT_TRUE(created.ok()) << created.message();
  Loader loader = rig.attach("train");
  Clock::duration longest{};
  for (std::uint64_t row = 0; row < kWindow + kWindow / 2; row += 2) {
    const Clock::time_point begin = Clock::now();
    ASSERT_TRUE(loader.next().has_value());
    longest = std::max(longest, Clock::now() - begin);
  }
  EXPECT_LT(longest, std::chrono::milliseconds(850));
}

// No window waits for room that only its own batch can make. Here the batch has all of it until it
// is published: its rows take more than their 64 bytes of tokens.
TEST(ShuffleWindow, MayBePartOfABatchThatTakesTheWholeReadAhead) {
  Rig rig;
  const fs::path file = rig.folder() / "data.tokens";
  std::ofstream(file, std::ios::binary) << std::string(kRecords * 64, 'x');
  const Status created = rig.create_whole(
      "train", "      - read: {url: '" + file.string() +
                   "', format: tokens, tokens: {length: 32}, read_ahead: 64KiB}\n"
                   "      - shuffle: {window: 200}\n"
                   "      - decode: {tokens: {key: tokens, as: uint16, shape: [32]}}\n"
                   "      - batch: {size: 500}\n      - publish: {slots: 3}\n");
  ASSERT_TRUE(created.ok()) << created.message();
  reads_of_epoch(rig);
}

// More records than are requested at a time: what is requested of a window waits for the rest of
// it, but no batch in a slot waits for that while the trainer leaves the epoch.
TEST(ShuffleWindow, MayBeLargeWhenATrainerLeavesTheEpoch) {
  Rig rig({.shards = 1, .records_per_shard = 20'000, .memory = "256MiB"});
  const Status created =
      rig.create("train",
                 "      - shuffle: {window: 20000}\n"
                 "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}}\n"
                 "      - batch: {size: 256}\n      - publish: {slots: 8}\n");
  ASSERT_TRUE(created.ok()) << created.message();
  Loader loader = rig.attach("train");
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    const std::optional<Batch> batch = loader.next();
    ASSERT_TRUE(batch.has_value());
    EXPECT_EQ(batch->epoch(), epoch);
    loader.begin_epoch();
  }
}

}  // namespace
}  // namespace echoline::e2e
