// A new echo factor while trainers read: which changes are refused and why, and what jobs get that
// split or skip after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "e2e/rig.h"

namespace echoline::e2e {
namespace {

using testing::HasSubstr;

std::string steps(const std::string& echo, const std::string& batch = "{size: 8}",
                  const std::string& publish = "") {
  return "      - shuffle: {window: 20}\n" + (echo.empty() ? "" : "      - echo: " + echo + "\n") +
         "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: "
         "int64}}\n"
         "      - batch: " +
         batch + "\n      - publish: {slots: 4" + publish + "}\n";
}

class SetEcho : public testing::Test {
 protected:
  void create(const std::string& pipeline) {
    const Status created = rig_.create("train", pipeline);
    ASSERT_TRUE(created.ok()) << created.message();
  }
  Result<std::vector<engine::FactorStart>> set_echo(std::uint32_t factor) {
    return rig_.engine().set_echo("train", factor);
  }

  Rig rig_{{.shards = 3, .records_per_shard = 60}};
};

TEST_F(SetEcho, AStreamWithoutEchoIsRefused) {
  create(steps(""));
  EXPECT_THAT(set_echo(1000).status().message(), HasSubstr("stream 'train' has no echo step"));
}

TEST_F(SetEcho, AFactorThatWouldLeaveNoBatchIsRefused) {
  create(steps("{factor: 2, window: 100, allow_repeats: true}", "{size: 200, last: drop}"));
  EXPECT_THAT(set_echo(1000).status().message(), HasSubstr("an epoch has less than a batch"));
  EXPECT_TRUE(set_echo(1500).ok());
}

TEST_F(SetEcho, AStreamWithRanksOnOtherHostsIsRefused) {
  create(steps("{factor: 2, window: 100}"));
  const Loader loader = rig_.attach("train", {.world_size = 2, .local_world_size = 1});
  EXPECT_THAT(set_echo(1500).status().message(),
              HasSubstr("job default rank 0 has ranks on other hosts"));
  EXPECT_EQ(rig_.engine().stats().streams.at(0).factor, 2000U);
}

TEST_F(SetEcho, AJobWhoseRanksReadDifferentPassesIsRefused) {
  create(steps("{factor: 2, window: 100}"));
  const Loader first = rig_.attach("train", {.world_size = 2, .local_world_size = 2});
  std::string elsewhere = first.state();
  const std::size_t epoch = elsewhere.find("\"epoch\":0");
  ASSERT_NE(epoch, std::string::npos) << elsewhere;
  elsewhere.replace(epoch, 9, "\"epoch\":5");
  const Loader second =
      rig_.attach("train", {.rank = 1, .world_size = 2, .local_world_size = 2, .state = elsewhere});
  EXPECT_THAT(set_echo(1500).status().message(),
              HasSubstr("the ranks of job default read in different passes"));
}

TEST_F(SetEcho, AJobsOwnBatchSizeMustFitTheSlotsAtTheEndOfAnyEpoch) {
  create(steps("{factor: 1.5, max: 2, window: 100}", "{size: 8, last: drop}"));
  const Loader loader = rig_.attach("train", {.batch_size = 16});
  EXPECT_THAT(set_echo(1730).status().message(), HasSubstr("can need 8 slots"));
}

TEST_F(SetEcho, ABatchSizeThatDoesNotDivideTheStreamsMustFitTheSlotsToo) {
  create(steps("{factor: 1.5, max: 2, window: 100}", "{size: 8, last: drop}"));
  std::string state;
  {
    Loader quarter = rig_.attach("train", {.batch_size = 4});
    ASSERT_TRUE(quarter.next().has_value());
    state = quarter.state();
  }
  const Loader loader = rig_.attach("train", {.state = state});
  EXPECT_THAT(set_echo(1730).status().message(),
              HasSubstr("from row 4 on, which can need 5 slots"));
}

TEST_F(SetEcho, ALaterJobMustFitTheSlotsAtTheEndOfChangedEpochs) {
  const std::string pipeline = steps("{factor: 1, max: 2, window: 100}", "{size: 8, last: drop}");
  create(pipeline);
  ASSERT_TRUE(rig_.create("unchanged", pipeline).ok());
  ASSERT_TRUE(set_echo(1100).ok());
  const std::string folder = rig_.runtime_dir();
  echoline_attach_options options;
  echoline_attach_options_init(&options, sizeof(options));
  options.runtime_dir = folder.c_str();
  options.batch_size = 12;
  options.flags = ECHOLINE_ATTACH_OVERLAP;
  echoline_loader* loader = nullptr;
  options.stream = "unchanged";
  EXPECT_EQ(echoline_attach(&options, &loader), ECHOLINE_OK) << echoline_last_error();
  echoline_detach(loader);
  options.stream = "train";
  // An epoch of 198 rows ends with two batches of 12 in five slots.
  EXPECT_EQ(echoline_attach(&options, &loader), ECHOLINE_RESOURCE_EXHAUSTED);
  EXPECT_THAT(echoline_last_error(), HasSubstr("need 5 slots of the stream at once, it has 4"));
}

TEST_F(SetEcho, AnOlderLibraryKeepsTheFactorAndIsRefusedAfterAChange) {
  create(steps("{factor: 2, window: 100}"));
  ASSERT_TRUE(rig_.attach_as(1, 1'000'001, "train").ok());
  EXPECT_THAT(set_echo(1500).status().message(), HasSubstr("a client library of an older release"));
  EXPECT_TRUE(set_echo(2000).ok()) << "the stream has this factor already";
  rig_.engine().withdraw(1'000'001);
  ASSERT_TRUE(rig_.attach_as(2, 1'000'002, "train").ok()) << "the other one must be gone";
  EXPECT_TRUE(set_echo(1500).ok());
  EXPECT_THAT(rig_.attach_as(1, 1'000'003, "train").message(), HasSubstr("ring layout 1.1"));
  rig_.engine().withdraw(1'000'002);
}

TEST_F(SetEcho, AJobThatSplitsFromASlowOneKeepsTheChange) {
  create(steps("{factor: 1.5, max: 3, window: 100}", "{size: 8, last: partial}",
               ", when_slow: split"));
  Loader slow = rig_.attach("train", {.job = "slow"});
  Loader fast = rig_.attach("train", {.job = "fast"});
  std::optional<Batch> held = slow.next();
  std::vector<SeenRow> rows = read_batches(fast, 1);
  ASSERT_TRUE(set_echo(2500).ok());
  const std::vector<SeenRow> rest = read_batches(fast, 100);
  rows.insert(rows.end(), rest.begin(), rest.end());
  EXPECT_EQ(rig_.engine().stats().streams.at(0).slow.split, 1U);
  std::vector<SeenRow> slow_rows;
  append_rows(*held, slow_rows);
  held.reset();
  const std::vector<SeenRow> others = read_batches(slow, 100);
  slow_rows.insert(slow_rows.end(), others.begin(), others.end());
  slow_rows.resize(std::min(rows.size(), slow_rows.size()));
  rows.resize(slow_rows.size());
  EXPECT_EQ(slow_rows, rows);
}

// Rank 0 has its part of a batch whose other rows have no slot yet.
TEST_F(SetEcho, BeginsBehindTheBatchesOfWhichARankHasItsPart) {
  std::string pipeline = steps("{factor: 2, window: 100}");
  pipeline.replace(pipeline.find("slots: 4"), 8, "slots: 14");
  create(pipeline);
  std::vector<Loader> ranks;
  for (const std::uint32_t rank : {0U, 1U}) {
    ranks.push_back(rig_.attach(
        "train", {.rank = rank, .world_size = 2, .batch_size = 32, .local_world_size = 2}));
  }
  const auto state_after_four = [&](Loader& rank) {
    for (int batch = 0; batch < 4; ++batch) EXPECT_TRUE(rank.next().has_value());
    return rank.state();
  };
  const std::string before = state_after_four(ranks[0]);
  ASSERT_TRUE(set_echo(1000).ok());
  EXPECT_EQ(ranks[0].state(), before);
  EXPECT_EQ(state_after_four(ranks[1]), before);
}

// A state of rows that were skipped stays one of the order that the trainer goes on with.
TEST_F(SetEcho, BeginsBehindSkippedRows) {
  create(steps("{factor: 2, window: 100}"));
  Loader loader = rig_.attach("train");
  ASSERT_TRUE(loader.next().has_value());
  loader.skip(12);
  const std::string before = loader.state();
  ASSERT_TRUE(set_echo(1000).ok());
  EXPECT_EQ(loader.state(), before);
}

TEST_F(SetEcho, SkippedStepsCountByTheChangedLengthsOfEpochs) {
  create(steps("{factor: 1, max: 2, window: 100}", "{size: 10, last: drop}"));
  ASSERT_TRUE(set_echo(2000).ok());
  Loader loader = rig_.attach("train");
  loader.skip(36 + 36 + 5);
  std::optional<Batch> batch = loader.next();
  while (!batch) batch = loader.next();
  EXPECT_EQ(batch->epoch(), 2U);
  EXPECT_EQ(batch->step(), 5U);
}

// A slow store, so the first place is the one behind the slowest part.
class EchoPlace : public SetEcho {
 protected:
  static constexpr const char* kEcho = "{factor: 2, window: 40}";
  Status create_placed() {
    return rig_.create("train", steps(""), std::string("echo: ") + kEcho,
                       ", throttle: {rate: 700KB/s}");
  }
  engine::StreamStats stats(const std::string& name) {
    for (const engine::StreamStats& one : rig_.engine().stats().streams) {
      if (one.name == name) return one;
    }
    return {};
  }
};

TEST_F(EchoPlace, IsChosenOnceAndTheOrderIsThatOfAStepThere) {
  const Status created = create_placed();
  ASSERT_TRUE(created.ok()) << created.message();
  const engine::StreamStats chosen = stats("train");
  EXPECT_THAT(chosen.echo_choice, HasSubstr("after 'shuffle': fetching ("));
  EXPECT_EQ(chosen.echo_point, "record");
  ASSERT_TRUE(rig_.create("explicit", steps(kEcho)).ok());
  EXPECT_EQ(chosen.fingerprint, stats("explicit").fingerprint);
  EXPECT_EQ(stats("explicit").echo_choice, "");
  Loader loader = rig_.attach("train");
  Loader other = rig_.attach("explicit");
  EXPECT_EQ(read_batches(loader, 5), read_batches(other, 5));
  EXPECT_THROW(rig_.attach("train", {.job = "b", .world_size = 2, .local_world_size = 1}), Error);
  EXPECT_TRUE(create_placed().ok()) << "the same definition";
}

TEST_F(EchoPlace, IsKeptUntilItIsForgotten) {
  ASSERT_TRUE(create_placed().ok());
  const fs::path kept = rig_.folder() / "state/echo_places/train.json";
  ASSERT_TRUE(fs::exists(kept));
  // A place that no measurement would choose here.
  rig_.stop();
  std::ofstream(kept) << R"({"place": 3, "steps": ["read", "shuffle", "decode", "batch", )"
                      << R"("publish"], "why": "after 'decode': I said so"})";
  rig_.start();
  EXPECT_EQ(stats("train").echo_choice, "after 'decode': I said so");
  EXPECT_EQ(stats("train").echo_point, "sample");
  EXPECT_TRUE(rig_.engine().forget_echo_place("train").ok());
  EXPECT_EQ(stats("train").echo_point, "sample") << "until it is opened again";
  rig_.restart();
  EXPECT_EQ(stats("train").echo_point, "record");
  ASSERT_TRUE(rig_.engine().delete_stream("train").ok());
  EXPECT_FALSE(fs::exists(kept));
  create(steps(kEcho));
  EXPECT_THAT(rig_.engine().forget_echo_place("train").message(),
              HasSubstr("is not chosen by the daemon"));
}

}  // namespace
}  // namespace echoline::e2e
