// Rows that trainers leave out: the rest of an epoch after `break`, and skipped steps. The daemon
// does not prepare them, and the rows after them are the same as without a break or a skip.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "e2e/rig.h"

namespace echoline::e2e {
namespace {

constexpr std::uint64_t kBatch = 8;
constexpr std::uint64_t kSlots = 4;

// The read-ahead is about 60 records, so that most of an epoch is beyond it.
std::string steps(const std::string& point) {
  const std::string echo =
      "      - echo: {factor: 2, window: " + std::string(point == "batch" ? "2" : "40") +
      ", allow_repeats: true}\n";
  return std::string("      - shuffle: {window: 30}\n") + (point == "record" ? echo : "") +
         "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: "
         "int64}}\n" +
         (point == "sample" ? echo : "") +
         "      - random_crop: {field: image, size: 8, padding: 2}\n" +
         (point == "augmented" ? echo : "") + "      - batch: {size: 8, last: partial}\n" +
         (point == "batch" ? echo : "") + "      - publish: {slots: 4}\n";
}

class Leaving : public testing::TestWithParam<std::string> {
 protected:
  Leaving() : rig_({.shards = 4, .records_per_shard = 400}) {
    const Status created = rig_.create("train", steps(GetParam()), "", ", read_ahead: 128KiB");
    EXPECT_TRUE(created.ok()) << created.message();
    reference_ = read_epochs(*std::make_unique<Loader>(rig_.attach("train", {.job = "whole"})), 2);
    epoch_rows_ = reference_.size() / 2;
  }

  std::uint64_t batches_prepared() { return rig_.engine().stats().streams.at(0).batches; }
  std::vector<SeenRow> expected(std::uint64_t first_row, std::uint64_t batches) const {
    const auto begin = reference_.begin() + static_cast<std::ptrdiff_t>(first_row);
    return {begin, begin + static_cast<std::ptrdiff_t>(batches * kBatch)};
  }

  Rig rig_;
  std::vector<SeenRow> reference_;
  std::uint64_t epoch_rows_ = 0;
};

TEST_P(Leaving, ABreakDoesNotPrepareTheRestOfTheEpoch) {
  Loader loader = rig_.attach("train");
  const std::uint64_t before = batches_prepared();
  EXPECT_EQ(read_batches(loader, 3), expected(0, 3));
  loader.begin_epoch();
  EXPECT_EQ(read_batches(loader, 5), expected(epoch_rows_, 5));
  if (GetParam() != "batch") {
    EXPECT_LE(batches_prepared() - before, 3 + 5 + 3 * kSlots);
  }
}

TEST_P(Leaving, SkippedStepsAreNotPrepared) {
  Loader loader = rig_.attach("train");
  const std::uint64_t before = batches_prepared();
  EXPECT_EQ(read_batches(loader, 2), expected(0, 2));
  loader.skip(100);
  EXPECT_EQ(read_batches(loader, 5), expected(102 * kBatch, 5));
  if (GetParam() != "batch") {
    EXPECT_LE(batches_prepared() - before, 2 + 5 + 3 * kSlots);
  }
}

TEST_P(Leaving, AnotherJobOfThePassMissesNothing) {
  Loader other = rig_.attach("train", {.job = "other"});
  Loader loader = rig_.attach("train");
  EXPECT_EQ(read_batches(other, 2), expected(0, 2));
  EXPECT_EQ(read_batches(loader, 2), expected(0, 2));
  std::vector<SeenRow> rows;
  std::thread leaves([&] {
    loader.begin_epoch();
    rows = read_batches(loader, 3);
  });
  EXPECT_EQ(read_batches(other, 100), expected(2 * kBatch, 100));
  other.skip(50);
  EXPECT_EQ(read_batches(other, 4), expected(152 * kBatch, 4));
  other.begin_epoch();
  EXPECT_EQ(read_batches(other, 3), expected(epoch_rows_, 3));
  leaves.join();
  EXPECT_EQ(rows, expected(epoch_rows_, 3));
}

TEST_P(Leaving, AJoinerStartsAtTheFirstRowWhileAnotherJobSkips) {
  Loader loader = rig_.attach("train");
  for (std::uint64_t step = 0; step < 100; step += 20) {
    EXPECT_EQ(read_batches(loader, 1), expected(step * kBatch, 1));
    Loader joiner = rig_.attach("train", {.job = "joiner"});
    loader.skip(19);
    EXPECT_EQ(read_batches(joiner, 3), expected(0, 3));
  }
}

TEST_P(Leaving, AJoinerAtARowBeforeASkipMissesNothing) {
  Loader loader = rig_.attach("train");
  EXPECT_EQ(read_batches(loader, 1), expected(0, 1));
  std::optional<Batch> held = loader.next();  // keeps the rows after it in the ring
  const std::string state = loader.state();
  loader.skip(100);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the pass skips
  Loader joiner = rig_.attach("train", {.job = "joiner", .state = state});
  held.reset();
  std::vector<SeenRow> rows;
  std::thread goes_on([&] { rows = read_batches(loader, 5); });
  EXPECT_EQ(read_batches(joiner, 105), expected(2 * kBatch, 105));
  goes_on.join();
  EXPECT_EQ(rows, expected(102 * kBatch, 5));
}

// Several jobs of one stream skip, break, leave and come back with their states, each at random: a
// row depends only on its position.
TEST_P(Leaving, JobsThatSkipAtRandomAllGetTheirRows) {
  const auto trainer = [this](unsigned seed) {
    std::mt19937 draw(seed);
    std::string state;
    std::uint64_t row = 0;  // of two epochs
    LoaderOptions options{.job = "job" + std::to_string(seed)};
    for (int round = 0; round < 12 && row + 40 * kBatch < reference_.size(); ++round) {
      options.state = state;
      Loader loader = rig_.attach("train", options);
      for (int move = 0; move < 6 && row + 40 * kBatch < reference_.size(); ++move) {
        const std::uint64_t left = (epoch_rows_ - row % epoch_rows_) / kBatch;
        const std::uint64_t batches = std::min<std::uint64_t>(left, draw() % 4);
        ASSERT_EQ(read_batches(loader, batches), expected(row, batches)) << seed << " at " << row;
        row += batches * kBatch;
        if (row % epoch_rows_ == 0) continue;
        const unsigned kind = draw() % 8;
        if (kind == 0 && row < epoch_rows_) {
          loader.begin_epoch();
          row = epoch_rows_;
        } else if (kind < 4) {
          const std::uint64_t steps =
              std::min<std::uint64_t>((epoch_rows_ - row % epoch_rows_) / kBatch - 1, draw() % 30);
          loader.skip(steps);
          row += steps * kBatch;
        }
      }
      state = loader.state();
    }
  };
  std::vector<std::thread> trainers;
  for (unsigned seed = 1; seed <= 4; ++seed) trainers.emplace_back(trainer, seed);
  for (std::thread& thread : trainers) thread.join();
}

INSTANTIATE_TEST_SUITE_P(All, Leaving,
                         testing::Values("none", "record", "sample", "augmented", "batch"),
                         [](const auto& point) { return point.param; });

}  // namespace
}  // namespace echoline::e2e
