// How records of a shuffle window are read: together, since they are neighbours in their shards.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "e2e/rig.h"

namespace echoline::e2e {
namespace {

constexpr std::uint64_t kRecords = 2000;
constexpr std::uint64_t kWindow = 200;

// Of 32 KB each: a gap of one record is too long to be read.
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

// No window waits for room that only its own batch can make.
TEST(ShuffleWindow, MayBePartOfABatchThatTakesTheWholeReadAhead) {
  Rig rig({.shards = 1, .records_per_shard = kRecords, .side = 180, .memory = "256MiB"});
  const Status created = rig.create("train", steps(20, 500), "", ", read_ahead: 1MiB");
  ASSERT_TRUE(created.ok()) << created.message();
  EXPECT_GT(reads_of_epoch(rig), 0U);
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
