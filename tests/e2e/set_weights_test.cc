// New weights of a mixture while trainers read: all jobs and ranks get one order, a state goes on
// exactly with it, and what cannot be is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "e2e/rig.h"
#include "echoline/shm/ring_layout.h"

namespace echoline::e2e {
namespace {

using testing::HasSubstr;
using Named = std::map<std::string, std::uint32_t>;

constexpr std::uint64_t kRecords = 40;  // of each source

class SetWeights : public testing::Test {
 protected:
  // Sources a, b and c with the weights 2, 1 and 1.
  std::string pipeline(const std::string& at_end, const std::string& steps,
                       const std::string& publish = "") {
    std::string sources;
    for (const int shard : {0, 1, 2}) {
      sources += std::string(shard == 0 ? "" : ", ") + "{name: " + "abc"[shard] +
                 ", weight: " + (shard == 0 ? "2" : "1") + ", read: {url: \"" +
                 rig_.shard_path(static_cast<std::uint64_t>(shard)).string() + "\"}}";
    }
    return "      - mix: {sources: [" + sources + "], at_end: " + at_end + "}\n" +
           "      - shuffle: {window: 15}\n" + steps + "      - publish: {slots: 4" + publish +
           "}\n";
  }
  static std::string decode() {
    return "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: "
           "int64}}\n";
  }
  static std::string batch(const std::string& size = "12") {
    return "      - batch: {size: " + size + ", last: partial}\n";
  }
  void create(const std::string& at_end, const std::string& steps, const std::string& keys = "") {
    const Status created = rig_.create_whole("train", pipeline(at_end, steps), keys);
    ASSERT_TRUE(created.ok()) << created.message();
  }
  Result<std::vector<engine::WeightStart>> set_weights(const Named& weights) {
    return rig_.engine().set_weights("train", weights);
  }

  Rig rig_{{.shards = 3, .records_per_shard = kRecords}};
};

// The rows of the next batch; the end of an epoch is passed over.
std::vector<SeenRow> next_rows(Loader& loader) { return read_batches(loader, 1); }

void append(std::vector<SeenRow> more, std::vector<SeenRow>& rows) {
  rows.insert(rows.end(), more.begin(), more.end());
}

// Rows of source b.
std::int64_t count_of_b(const std::vector<SeenRow>& rows) {
  return std::ranges::count_if(
      rows, [](const SeenRow& row) { return row.sample >= kRecords && row.sample < 2 * kRecords; });
}

// `steps`: those between `shuffle` and `publish`, with D for the decode step and B for batches.
struct Case {
  const char* name;
  const char* at_end;
  std::vector<std::string> steps;
  const char* keys = "";
};

class SetWeightsWhileReading : public SetWeights, public testing::WithParamInterface<Case> {};

TEST_P(SetWeightsWhileReading, AllJobsAndRanksAndStatesHaveOneOrder) {
  std::string steps_text;
  for (const std::string& step : GetParam().steps) {
    steps_text += step == "D" ? decode() : step == "B" ? batch() : "      - echo: " + step + "\n";
  }
  create(GetParam().at_end, steps_text, GetParam().keys);
  Loader alone = rig_.attach("train", {.job = "alone"});
  std::vector<Loader> ranks;
  for (const std::uint32_t rank : {0U, 1U}) {
    ranks.push_back(rig_.attach("train", {.job = "two", .rank = rank, .world_size = 2}));
  }
  std::vector<std::string> states;
  std::vector<std::vector<SeenRow>> steps;
  for (int step = 0; step < 100; ++step) {
    if (step == 3) {
      ASSERT_TRUE(set_weights({{"b", 6000}}).ok());
    }
    if (step == 9) {
      // Two at once, of which one is what it was.
      const auto starts = set_weights({{"a", 500}, {"b", 6000}});
      ASSERT_TRUE(starts.ok()) << starts.status().message();
      ASSERT_EQ(starts->size(), 1U);
      EXPECT_THAT(starts->front().jobs, testing::UnorderedElementsAre("alone", "two"));
    }
    states.push_back(alone.state());
    steps.push_back(next_rows(alone));
    std::vector<SeenRow> together = next_rows(ranks[0]);
    append(next_rows(ranks[1]), together);
    ASSERT_EQ(steps.back(), together) << "step " << step;
  }
  const std::vector<engine::MixedSourceStats> sources = rig_.engine().stats().streams.at(0).sources;
  EXPECT_EQ(sources.at(0).weight, 500U);
  EXPECT_EQ(sources.at(1).weight, 6000U);
  EXPECT_EQ(rig_.engine().states("train")->at("alone"), alone.state());
  int resumed = 0;
  for (std::size_t from = 0; from + 5 < steps.size(); from += 5) {
    // A state that was saved before rows of the second change continues without it.
    if (states[from].find("500,6000,1000") == std::string::npos) continue;
    std::vector<Loader> ranks_again;
    for (const std::uint32_t rank : {0U, 1U, 2U}) {
      ranks_again.push_back(rig_.attach(
          "train", {.job = "again", .rank = rank, .world_size = 3, .state = states[from]}));
    }
    for (std::size_t at = from; at < from + 5; ++at) {
      std::vector<SeenRow> rows;
      for (Loader& rank : ranks_again) append(next_rows(rank), rows);
      ASSERT_EQ(rows, steps[at]) << "from step " << from << ", at " << at;
    }
    ++resumed;
  }
  EXPECT_GT(resumed, 4);
}

INSTANTIATE_TEST_SUITE_P(
    Orders, SetWeightsWhileReading,
    testing::Values(
        Case{"repeat", "repeat, records: 240", {"D", "B"}}, Case{"drop", "drop", {"D", "B"}},
        Case{"record", "repeat, records: 120", {"{factor: 2, window: 50}", "D", "B"}},
        Case{"sample_lanes",
             "drop",
             {"D", "{factor: 2, window: 60, allow_repeats: true}", "B"},
             "lanes: 2"},
        Case{"within_step", "repeat, records: 240", {"{factor: 3, spread: step}", "D", "B"}},
        Case{"batches", "repeat, records: 120", {"D", "B", "{factor: 2, window: 3}"}}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(SetWeights, EachSourceHasItsNewShareFromTheNextRowOn) {
  create("repeat, records: 1200", decode() + batch());
  ASSERT_TRUE(set_weights({{"a", 1000}, {"b", 2000}, {"c", 0}}).ok());
  Loader loader = rig_.attach("train");
  const std::vector<SeenRow> rows = read_epochs(loader, 1);
  EXPECT_EQ(rows.size(), 1200U);
  EXPECT_EQ(count_of_b(rows), 800);
  EXPECT_TRUE(std::ranges::all_of(rows, [](const SeenRow& row) {
    return row.sample < 2 * kRecords;
  })) << "c has a weight of 0";
  EXPECT_EQ(rig_.engine().stats().streams.at(0).sources.at(1).records_per_epoch, 800U);
}

TEST_F(SetWeights, AreKeptOverARestartAndByTheirTrainers) {
  create("repeat, records: 240", decode() + batch());
  Loader before = rig_.attach("train", {.job = "before", .reattach = std::chrono::seconds(30)});
  (void)read_batches(before, 2);
  ASSERT_TRUE(set_weights({{"b", 9000}}).ok());
  (void)read_batches(before, 100);  // behind what was planned before the change
  const std::string state = before.state();
  rig_.restart();
  const std::vector<SeenRow> rest = read_batches(before, 10);
  EXPECT_GT(count_of_b(rest), 80) << "of 120 rows";
  Loader again = rig_.attach("train", {.job = "again", .state = state});
  EXPECT_EQ(read_batches(again, 10), rest);
  Loader fresh = rig_.attach("train", {.job = "fresh"});
  EXPECT_GT(count_of_b(read_batches(fresh, 10)), 80);
  ASSERT_TRUE(rig_.engine().delete_stream("train").ok());
  EXPECT_TRUE(std::filesystem::is_empty(rig_.folder() / "state/weights"));
}

TEST_F(SetWeights, AStateWithoutTheChangeContinuesWithoutIt) {
  create("repeat, records: 240", decode() + batch());
  std::string state;
  std::vector<SeenRow> rows;
  {
    Loader loader = rig_.attach("train", {.job = "first"});
    (void)read_batches(loader, 3);
    state = loader.state();
    rows = read_batches(loader, 10);
  }
  ASSERT_TRUE(set_weights({{"c", 50'000}}).ok());
  Loader loader = rig_.attach("train", {.job = "second", .state = state});
  EXPECT_EQ(read_batches(loader, 10), rows);
  // A state that nobody can have saved.
  const std::size_t end = state.rfind('}');
  for (const std::string wrong : {"[[240,[1,1,1]]]", "[[1,[1,1]]]", "[[1,[0,0,0]]]"}) {
    std::string bad = state;
    bad.insert(end, ",\"weights\":" + wrong);
    EXPECT_THROW(rig_.attach("train", {.job = "bad", .state = bad}), Error) << wrong;
  }
}

TEST_F(SetWeights, WhatCannotBeIsRefused) {
  create("stop", decode() + batch());
  EXPECT_THAT(set_weights({{"a", 1000}}).status().message(), HasSubstr("'at_end: stop'"));
  ASSERT_TRUE(rig_.engine().delete_stream("train").ok());
  create("drop", decode() + batch());
  EXPECT_EQ(set_weights({{"bb", 1000}}).status().message(),
            "stream 'train' has no source 'bb'; its sources: a, b, c");
  EXPECT_THAT(set_weights({{"a", 0}}).status().message(), HasSubstr("at_end: drop"));
  EXPECT_THAT(set_weights({}).status().message(), HasSubstr("no weights given"));
  {
    const Loader loader = rig_.attach("train", {.world_size = 2, .local_world_size = 1});
    EXPECT_THAT(set_weights({{"a", 1000}}).status().message(),
                HasSubstr("job default rank 0 has ranks on other hosts"));
  }
  ASSERT_TRUE(rig_.create("one", decode() + batch()).ok());
  EXPECT_THAT(rig_.engine().set_weights("one", {{"a", 1000}}).status().message(),
              HasSubstr("stream 'one' has no step 'mix'"));
}

TEST_F(SetWeights, AnOlderLibraryKeepsTheWeightsAndIsRefusedAfterAChange) {
  create("drop", decode() + batch());
  ASSERT_TRUE(rig_.attach_as(3, 1'000'001, "train").ok());
  EXPECT_THAT(set_weights({{"a", 1000}}).status().message(),
              HasSubstr("a client library of an older release"));
  EXPECT_TRUE(set_weights({{"a", 2000}}).ok()) << "the stream has this weight already";
  rig_.engine().withdraw(1'000'001);
  ASSERT_TRUE(rig_.attach_as(4, 1'000'002, "train").ok()) << "the other one must be gone";
  EXPECT_TRUE(set_weights({{"a", 1000}}).ok());
  EXPECT_THAT(rig_.attach_as(3, 1'000'003, "train").message(), HasSubstr("ring layout 1.3"));
  rig_.engine().withdraw(1'000'002);
}

TEST_F(SetWeights, SixteenChangesOfAnEpochAreLogged) {
  create("drop", decode() + batch());
  Loader loader = rig_.attach("train");
  (void)read_batches(loader, 1);
  std::uint32_t made = 0;
  Status refused;
  for (std::uint32_t weight = 1; weight <= 40 && refused.ok(); ++weight) {
    refused = set_weights({{"a", weight}}).status();
    made += refused.ok() ? 1 : 0;
  }
  EXPECT_EQ(made, shm::kWeightLogEntries);
  EXPECT_THAT(refused.message(), HasSubstr("16 changes of the weights an epoch are possible"));
}

// A window of encoded records has the memory that the configured shares need.
TEST_F(SetWeights, ALargerWindowThanWasReservedIsRefused) {
  const std::string huge = (rig_.folder() / "huge.tar").string();
  write_tar(huge, numbered_records(3 * kRecords, 8, 1024), 3 * kRecords);
  const std::string steps =
      "      - mix: {sources: [{name: small, weight: 0.95, read: {url: \"" +
      rig_.shard_path(0).string() + "\"}}, {name: huge, weight: 0.05, read: {url: \"" + huge +
      "\"}}], at_end: repeat, records: 400}\n      - echo: {factor: 2, window: 100}\n"
      "      - decode: {label: {key: cls, as: int64}}\n      - batch: {size: 12}\n";
  const Status created = rig_.create_whole("train", steps);
  ASSERT_TRUE(created.ok()) << created.message();
  EXPECT_TRUE(set_weights({{"huge", 40}}).ok());
  EXPECT_THAT(set_weights({{"huge", 5000}}).status().message(),
              HasSubstr("the records of the echo window can take"));
}

}  // namespace
}  // namespace echoline::e2e
