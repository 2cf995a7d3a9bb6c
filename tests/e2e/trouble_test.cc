// What trainers see when something goes wrong: bad records, changed shards, a daemon that restarts,
// too little memory, refused attachments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "e2e/rig.h"

namespace echoline::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string pipeline(const std::string& echo = "") {
  return "      - shuffle: {window: 30}\n"
         "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: "
         "int64}}\n" +
         echo + "      - batch: {size: 8, last: partial}\n      - publish: {slots: 4}\n";
}

// Sixty records of which three are bad: no pixels, too few pixels, a label that is not a number.
void write_bad_shard(const Rig& rig) {
  ShardFile shard = numbered_records(20, 20, 8);
  shard.records[3].erase(shard.records[3].begin());
  shard.records[5][0].second.resize(10);
  shard.records[9][1].second = "cat";
  write_tar(rig.shard_path(1), shard, 20);
}

// One shard of twenty records; those in [first, last) have a label that is not a number.
void write_bad_labels(const Rig& rig, std::size_t first, std::size_t last) {
  ShardFile shard = numbered_records(0, 20, 8);
  for (std::size_t record = first; record < last; ++record) shard.records[record][1].second = "cat";
  write_tar(rig.shard_path(0), shard, 0);
}

// Threads that ask for statistics all the time. They delay the creation of streams and the engine's
// thread, so that errors of early records come in unusual order.
class StatsReaders {
 public:
  explicit StatsReaders(Rig& rig) {
    for (int i = 0; i < 4; ++i) {
      threads_.emplace_back([&rig](const std::stop_token& stop) {
        while (!stop.stop_requested()) rig.engine().stats();
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

// The text of the error that `act` throws; fails the test if there is none.
template <typename Act>
std::string error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

std::string reading_error(const Rig& rig, std::uint32_t epochs) {
  return error_of([&] {
    Loader loader = rig.attach("train");
    read_epochs(loader, epochs);
  });
}

TEST(BadRecords, AreReplacedTheSameOnEveryRun) {
  std::vector<SeenRow> expected;
  for (const std::uint32_t workers : {1U, 3U}) {
    Rig rig({.workers = workers});
    write_bad_shard(rig);
    const Status created = rig.create("train", pipeline(), "bad_records: {limit: 10%}");
    ASSERT_TRUE(created.ok()) << created.message();
    Loader loader = rig.attach("train");
    const std::vector<SeenRow> rows = read_epochs(loader, 2);
    ASSERT_EQ(rows.size(), 2 * rig.record_count()) << "the batch size holds";
    std::size_t replaced = 0;
    for (const SeenRow& row : rows) {
      EXPECT_EQ(row.label, static_cast<std::int64_t>(row.sample));
      EXPECT_THAT(row.sample, AllOf(testing::Ne(23U), testing::Ne(25U), testing::Ne(29U)));
      replaced += row.flags == shm::kRowReplaced ? 1 : 0;
    }
    EXPECT_EQ(replaced, 2 * 3U);
    const auto bad = rig.engine().stats().streams.front().records_bad;
    EXPECT_GE(bad.at("missing"), 2U);
    EXPECT_GE(bad.at("invalid"), 2U);
    if (workers == 1) expected = rows;
    EXPECT_EQ(rows, expected);
  }
}

TEST(BadRecords, EndTheStreamBeyondTheLimitAndUnderThePolicyFail) {
  for (const std::string policy : {"limit: 1%", "policy: fail"}) {
    Rig rig;
    write_bad_shard(rig);
    ASSERT_TRUE(rig.create("train", pipeline(), "bad_records: {" + policy + "}").ok());
    const std::string error = reading_error(rig, 1);
    EXPECT_THAT(error, HasSubstr("shard-1.tar")) << policy;
    EXPECT_THAT(error, HasSubstr(policy == "limit: 1%" ? "bad_records.limit" : "policy: fail"));
  }
}

// The daemon prepares the first batch while it still creates the stream; the stream readers often
// let the failure come first.
TEST(BadRecords, OfTheFirstBatchEndTheStreamAlsoDuringItsCreation) {
  Rig rig({.shards = 1});
  write_bad_labels(rig, 1, 20);
  const StatsReaders readers(rig);
  for (int turn = 0; turn < 40; ++turn) {
    const std::string name = "train" + std::to_string(turn);
    ASSERT_TRUE(rig.create(name, pipeline(), "bad_records: {policy: fail}").ok());
    error_of([&] {
      Loader loader = rig.attach(name);
      Batch batch;
      loader.next_within(std::chrono::seconds(10), batch);
    });
  }
}

// The failure of a deleted stream may arrive when another stream has its name: here one with the
// same data under another policy.
TEST(BadRecords, OfADeletedStreamDoNotEndTheNextStreamOfItsName) {
  Rig rig({.shards = 1});
  write_bad_labels(rig, 4, 8);
  const StatsReaders readers(rig);
  for (int turn = 0; turn < 100; ++turn) {
    ASSERT_TRUE(rig.create("train", pipeline(), "bad_records: {policy: fail}").ok());
    ASSERT_TRUE(rig.engine().delete_stream("train").ok());
    ASSERT_TRUE(rig.create("train", pipeline(), "bad_records: {limit: 100%}").ok());
    Loader loader = rig.attach("train");
    ASSERT_EQ(read_batches(loader, 3).size(), 20U);
    loader.close();
    ASSERT_TRUE(rig.engine().delete_stream("train").ok());
  }
}

TEST(Shards, ThatChangeAfterIndexingAreAnErrorThatNamesThem) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", pipeline(), "", ", read_ahead: 64KiB").ok());
  write_tar(rig.shard_path(2), numbered_records(40, 21, 8), 40);
  EXPECT_THAT(reading_error(rig, 6), HasSubstr("shard-2.tar"));
}

TEST(Memory, ThatDoesNotFitIsRefusedAtStartWithTheNumbers) {
  Rig rig({.memory = "1MiB"});
  const Status status = rig.create(
      "train",
      "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: "
      "int64}}\n"
      "      - batch: {size: 8}\n      - publish: {slots: 4096}\n");
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("train"), HasSubstr("lacks")));
}

TEST(Memory, WithoutRoomForTheRecordsOfOneBatchIsRefusedAlsoWithASmallReadAhead) {
  Rig rig({.shards = 1, .records_per_shard = 20, .side = 512, .memory = "3MiB"});
  const auto steps = [](int rows) {
    return "      - decode: {label: {key: cls, as: int64}}\n      - batch: {size: " +
           std::to_string(rows) + ", last: partial}\n";
  };
  const Status created = rig.create("train", steps(16), "", ", read_ahead: 64KiB");
  EXPECT_EQ(created.code(), Code::kResourceExhausted);
  EXPECT_THAT(created.message(), AllOf(HasSubstr("train"), HasSubstr("read-ahead 4")));
  EXPECT_TRUE(rig.create("small", steps(8), "", ", read_ahead: 64KiB").ok());
}

TEST(Memory, TooSmallForDecodedSamplesChangesNoPixel) {
  const std::string echo = "      - echo: {factor: 3, window: 40}\n";
  std::vector<SeenRow> expected;
  for (const std::string memory : {"64MiB", "1200KiB"}) {
    Rig rig({.side = 64, .memory = memory});
    const Status created = rig.create(
        "train",
        "      - decode: {image: {key: u8, as: uint8, shape: [64, 64, 1]}, label: {key: "
        "cls, as: int64}}\n" +
            echo + "      - random_crop: {field: image, size: 8}\n      - batch: {size: 4}\n",
        "", ", read_ahead: 64KiB");
    ASSERT_TRUE(created.ok()) << created.message();
    Loader loader = rig.attach("train");
    const std::vector<SeenRow> rows = read_epochs(loader, 2);
    if (expected.empty()) expected = rows;
    EXPECT_EQ(rows, expected);
  }
}

TEST(Daemon, AfterARestartGivesItsTrainersExactlyTheNextBatch) {
  // The daemon waits this long for job "gone", which does not read any more.
  Rig rig({.reattach_grace = "500ms"});
  ASSERT_TRUE(rig.create("train", pipeline("      - echo: {factor: 2, window: 40}\n")).ok());
  Loader whole = rig.attach("train", {.job = "whole"});
  const std::vector<SeenRow> expected = read_batches(whole, 30);
  whole = rig.attach("train", {.job = "gone"});
  std::vector<std::vector<SeenRow>> seen(3);
  std::vector<Loader> loaders;
  for (std::size_t job = 0; job < seen.size(); ++job) {
    loaders.push_back(rig.attach("train", {.job = "job" + std::to_string(job)}));
    seen[job] = read_batches(loaders[job], 1 + job);
  }
  rig.stop();
  std::vector<std::thread> trainers;
  for (std::size_t job = 0; job < seen.size(); ++job) {
    trainers.emplace_back([&, job] {
      try {
        const std::vector<SeenRow> rest = read_batches(loaders[job], 29 - job);
        seen[job].insert(seen[job].end(), rest.begin(), rest.end());
      } catch (const Error& error) {
        ADD_FAILURE() << "job " << job << ": " << error.what();
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  rig.start();
  for (std::thread& trainer : trainers) trainer.join();
  for (const std::vector<SeenRow>& rows : seen) EXPECT_EQ(rows, expected);
}

TEST(Daemon, ThatStopsIsAnErrorWithinASecondForATrainerWithoutReattach) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", pipeline()).ok());
  Loader loader = rig.attach("train", {.reattach = std::chrono::seconds(0)});
  read_batches(loader, 1);
  rig.stop();
  const auto begin = std::chrono::steady_clock::now();
  error_of([&] { read_batches(loader, 20); });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(Attaching, RefusesImpossibleOptionsAndSaysWhy) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", pipeline()).ok());
  const auto refusal = [&](const std::string& stream, const LoaderOptions& options) {
    return error_of([&] { rig.attach(stream, options); });
  };
  EXPECT_THAT(refusal("tran", {}), AllOf(HasSubstr("no stream 'tran'"), HasSubstr("train")));
  EXPECT_THAT(refusal("train", {.rank = 3, .world_size = 3}), HasSubstr("rank 3"));
  EXPECT_THAT(refusal("train", {.world_size = 3}), HasSubstr("no multiple of world size 3"));
  EXPECT_THAT(refusal("train", {.expect = std::string(32, 'a')}), HasSubstr("fingerprint"));
}

TEST(Attaching, NamesWhatDiffersFromTheStreamOfTheState) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", pipeline()).ok());
  const LoaderOptions of_state{.state = rig.attach("train").state()};
  const auto create_again = [&](const std::string& steps, const std::string& stream_keys) {
    EXPECT_TRUE(rig.engine().delete_stream("train").ok());
    EXPECT_TRUE(rig.create("train", steps, stream_keys).ok());
  };
  const auto refusal_of = [&](const std::string& steps, const std::string& stream_keys) {
    create_again(steps, stream_keys);
    return error_of([&] { rig.attach("train", of_state); });
  };
  create_again(pipeline(), "");
  rig.attach("train", of_state);
  EXPECT_THAT(refusal_of(pipeline(), "seed: 8"), HasSubstr("the state is of another seed:"));
  EXPECT_THAT(refusal_of(pipeline("      - echo: {factor: 2, window: 32}\n"), ""),
              HasSubstr("the state is of another pipeline:"));
  std::filesystem::remove(rig.shard_path(2));
  EXPECT_THAT(refusal_of(pipeline(), "seed: 8"),
              HasSubstr("the state is of another data set and another seed:"));
}

}  // namespace
}  // namespace echoline::e2e
