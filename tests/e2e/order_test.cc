// From stored records to the trainers' batches: each record comes as often as planned, in an order
// that does not depend on the number of workers and ranks, or on a stop and a resume.
#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <tuple>

#include "e2e/rig.h"

namespace echoline::e2e {
namespace {

const char kDecode[] =
    "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: "
    "int64}}\n";
const char kAugment[] =
    "      - random_crop: {field: image, size: 8, padding: 2}\n"
    "      - horizontal_flip: {field: image}\n";

std::string pipeline(const std::string& point, const std::string& factor,
                     const std::string& last = "partial") {
  const std::string echo = "      - echo: {factor: " + factor +
                           ", window: " + (point == "batch" ? "2" : "40") +
                           ", allow_repeats: true}\n";
  std::string steps = "      - shuffle: {window: 30}\n";
  if (point == "record") steps += echo;
  steps += kDecode;
  if (point == "sample") steps += echo;
  steps += kAugment;
  if (point == "augmented") steps += echo;
  steps += "      - batch: {size: 8, last: " + last + "}\n";
  if (point == "batch") steps += echo;
  return steps + "      - publish: {slots: 4}\n";
}

class EchoPoints : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  std::string steps() const { return pipeline(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(EchoPoints, EachRecordComesAsOftenAsPlannedWithItsOwnLabel) {
  Rig rig;
  const Status created = rig.create("train", steps());
  ASSERT_TRUE(created.ok()) << created.message();
  Loader loader = rig.attach("train");
  const std::vector<SeenRow> rows = read_epochs(loader, 2);
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> uses;
  for (const SeenRow& row : rows) {
    EXPECT_EQ(row.label, static_cast<std::int64_t>(row.sample));
    EXPECT_EQ(row.use, (uses[{row.epoch, row.sample}]++)) << "uses must count from 0, in order";
  }
  EXPECT_EQ(uses.size(), 2 * rig.record_count());
  const double factor = std::stod(std::get<1>(GetParam()));
  for (const auto& [record, count] : uses) {
    EXPECT_GE(count, static_cast<std::uint32_t>(factor));
    EXPECT_LE(count, static_cast<std::uint32_t>(factor) + 1);
  }
}

TEST_P(EchoPoints, TheNumberOfWorkersChangesNothing) {
  std::vector<SeenRow> expected;
  for (const std::uint32_t workers : {1U, 4U}) {
    Rig rig({.workers = workers});
    ASSERT_TRUE(rig.create("train", steps()).ok());
    Loader loader = rig.attach("train");
    const std::vector<SeenRow> rows = read_epochs(loader, 2);
    if (workers == 1) {
      expected = rows;
    } else {
      EXPECT_EQ(rows, expected);
    }
  }
}

TEST_P(EchoPoints, TwoUsesOfARecordDifferOnlyBeforeTheAugmentations) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", steps()).ok());
  Loader loader = rig.attach("train");
  std::map<std::uint64_t, std::uint64_t> first;
  std::size_t equal = 0;
  std::size_t compared = 0;
  for (const SeenRow& row : read_epochs(loader, 1)) {
    if (row.use == 0) first[row.sample] = row.pixels;
    if (row.use != 1) continue;
    equal += first.at(row.sample) == row.pixels ? 1 : 0;
    ++compared;
  }
  ASSERT_GT(compared, 30U);
  const std::string point = std::get<0>(GetParam());
  if (point == "augmented" || point == "batch") {
    EXPECT_EQ(equal, compared);
  } else {
    EXPECT_LT(equal, compared / 8) << "of 50 crops and flips few are equal by chance";
  }
}

TEST_P(EchoPoints, AResumedTrainerContinuesWithExactlyTheNextBatch) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", steps()).ok());
  Loader whole = rig.attach("train", {.job = "whole"});
  const std::vector<SeenRow> expected = read_batches(whole, 40);
  for (const std::uint64_t stop_at : {0, 1, 7, 13, 16, 19, 25}) {
    std::string state;
    std::vector<SeenRow> rows;
    {
      Loader first = rig.attach("train", {.job = "first"});
      rows = read_batches(first, stop_at);
      state = first.state();
    }
    Loader second = rig.attach("train", {.job = "second", .state = state});
    const std::vector<SeenRow> rest = read_batches(second, 40 - stop_at);
    rows.insert(rows.end(), rest.begin(), rest.end());
    EXPECT_EQ(rows, expected) << "stopped after " << stop_at;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EchoPoints,
                         testing::Combine(testing::Values("record", "sample", "augmented", "batch"),
                                          testing::Values("2", "2.5")),
                         [](const auto& chosen) {
                           return std::get<0>(chosen.param) +
                                  (std::get<1>(chosen.param) == "2" ? "Twice" : "TwoAndAHalf");
                         });

TEST(Ranks, TogetherGetTheRowsOfTheBatch) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", pipeline("sample", "2")).ok());
  Loader alone = rig.attach("train", {.job = "alone"});
  std::vector<std::vector<SeenRow>> expected;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const Batch& batch : alone.epoch()) append_rows(batch, expected.emplace_back());
  }
  std::vector<Loader> ranks;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    ranks.push_back(rig.attach("train", {.job = "four", .rank = rank, .world_size = 4}));
  }
  std::vector<std::vector<SeenRow>> seen(expected.size());
  std::vector<std::thread> threads;
  std::vector<std::vector<std::vector<SeenRow>>> by_rank(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    threads.emplace_back([&, rank] {
      for (int epoch = 0; epoch < 2; ++epoch) {
        for (const Batch& batch : ranks[rank].epoch()) {
          append_rows(batch, by_rank[rank].emplace_back());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& batches : by_rank) {
    ASSERT_EQ(batches.size(), expected.size()) << "all ranks must have the same steps";
    for (std::size_t step = 0; step < batches.size(); ++step) {
      seen[step].insert(seen[step].end(), batches[step].begin(), batches[step].end());
    }
  }
  EXPECT_EQ(seen, expected);
}

TEST(Jobs, ShareOnePreparationOfEachBatch) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", pipeline("none", "1")).ok());
  Loader first = rig.attach("train", {.job = "first"});
  Loader second = rig.attach("train", {.job = "second"});
  std::vector<SeenRow> of_second;
  std::thread reader([&] { of_second = read_epochs(second, 3); });
  const std::vector<SeenRow> of_first = read_epochs(first, 3);
  reader.join();
  EXPECT_EQ(of_first, of_second);
  const engine::StreamStats stats = rig.engine().stats().streams.front();
  EXPECT_EQ(stats.passes, 1U);
  EXPECT_LE(stats.batches, 3 * 8 + 4U) << "each batch once, and a ring of batches beyond";
}

TEST(Jobs, NamedInPublishAreWaitedForByTheFirstPass) {
  Rig rig;
  std::string steps = pipeline("none", "1");
  steps.replace(steps.find("slots: 4"), 8, "slots: 4, jobs: [first, second]");
  ASSERT_TRUE(rig.create("train", steps).ok());
  Loader first = rig.attach("train", {.job = "first"});
  const std::vector<SeenRow> begun = read_batches(first, 4);
  Batch batch;
  EXPECT_EQ(first.next_within(std::chrono::milliseconds(200), batch), ECHOLINE_TIMEOUT);
  Loader second = rig.attach("train", {.job = "second"});
  EXPECT_EQ(read_batches(second, 4), begun);
  EXPECT_EQ(first.next_within(std::chrono::seconds(10), batch), ECHOLINE_OK);
  EXPECT_EQ(rig.engine().stats().streams.front().passes, 1U);
}

TEST(Jobs, OfAnotherBatchSizeGetTheSameRows) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", pipeline("sample", "2.5", "drop")).ok());
  Loader own = rig.attach("train", {.job = "own", .batch_size = 1});
  const std::vector<SeenRow> expected = read_epochs(own, 2);
  for (const std::uint32_t batch : {3U, 8U, 20U}) {
    Loader other = rig.attach("train", {.job = "other", .batch_size = batch});
    const std::vector<SeenRow> rows = read_epochs(other, 2);
    const std::size_t whole = expected.size() / 2 / batch * batch;
    ASSERT_EQ(rows.size(), 2 * whole) << "batch size " << batch;
    for (std::size_t i = 0; i < whole; ++i) {
      EXPECT_EQ(rows[i], expected[i]);
      EXPECT_EQ(rows[whole + i], expected[expected.size() / 2 + i]);
    }
  }
}

TEST(Jobs, OfAnotherBatchSizeShareAPassUnderDrop) {
  Rig rig({.shards = 10, .records_per_shard = 101});
  ASSERT_TRUE(rig.create("train", pipeline("none", "1", "drop"), "", ", read_ahead: 64KiB").ok());
  Loader own = rig.attach("train", {.job = "own"});
  Loader other = rig.attach("train", {.job = "other", .batch_size = 12});
  std::vector<SeenRow> others;
  std::jthread reading([&] { others = read_epochs(other, 2); });
  const std::vector<SeenRow> owns = read_epochs(own, 2);
  EXPECT_EQ(rig.engine().stats().streams.front().passes, 1U);
  reading.join();
  EXPECT_EQ(owns.size(), 2 * (1010 / 8 * 8));
  EXPECT_EQ(others.size(), 2 * (1010 / 12 * 12));
}

// The state of a job with this batch size after `batches` batches.
std::string state_after(const Rig& rig, std::uint32_t batch_size, std::uint64_t batches) {
  Loader loader = rig.attach("train", {.job = "before", .batch_size = batch_size});
  read_batches(loader, batches);
  return loader.state();
}

TEST(Jobs, ResumedBetweenTwoBatchesGetTheLastRowsOfAnEpochThatBatchesFill) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", pipeline("sample", "2", "drop")).ok());
  std::vector<SeenRow> expected;
  {
    Loader whole = rig.attach("train", {.job = "whole"});
    expected = read_epochs(whole, 2);
  }
  ASSERT_EQ(expected.size(), 2 * 120);
  const std::string state = state_after(rig, 5, 17);
  rig.restart();  // row 85 is too far ahead of the running pass: a new pass begins
  Loader resumed = rig.attach("train", {.job = "resumed", .batch_size = 5, .state = state});
  EXPECT_EQ(read_epochs(resumed, 2), std::vector(expected.begin() + 85, expected.end()));
}

TEST(Jobs, BetweenTwoBatchesShareAPassUpToTheEndOfAnEpochThatBatchesFill) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", pipeline("sample", "2", "drop")).ok());
  const std::string state = state_after(rig, 5, 21);
  Loader own = rig.attach("train", {.job = "own"});
  read_batches(own, 13);
  Loader resumed = rig.attach("train", {.job = "resumed", .batch_size = 5, .state = state});
  const std::vector<SeenRow> from_104 = read_batches(own, 1);
  EXPECT_EQ(read_batches(resumed, 1), std::vector(from_104.begin() + 1, from_104.begin() + 6));
  EXPECT_EQ(rig.engine().stats().streams.front().passes, 1U);
}

}  // namespace
}  // namespace echoline::e2e
