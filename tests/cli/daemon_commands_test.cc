// The commands against a real daemon that serves packed data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/command_run.h"
#include "cli/digits.h"
#include "serve/process.h"
#include "serve/scratch_folder.h"

namespace echoline::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

// One daemon for all cases; each case uses its own jobs.
class DaemonCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new serve::ScratchFolder;
    write_digits(folder_->path());
    const CommandResult packed =
        run_command({"pack", folder_->file("images-idx3-ubyte"), folder_->file("labels-idx1-ubyte"),
                     "--output", folder_->file("shards"), "--shard-records", "20", "--json"});
    ASSERT_EQ(packed.status, 0) << packed.err;
    EXPECT_EQ(Json::parse(packed.out)["shards"], 3);
    write_config("train.yaml", "train", "last: partial");
    daemon_ = new serve::Process({ECHOLINED, "--config", folder_->file("train.yaml")},
                                 folder_->file("notify"));
    ASSERT_EQ(daemon_->notification(20s), "READY=1") << daemon_->output();
  }

  static void TearDownTestSuite() {
    delete daemon_;
    delete folder_;
  }

  static void write_config(const std::string& file, const std::string& stream,
                           const std::string& last) {
    std::ofstream(folder_->file(file))
        << "daemon: {runtime_dir: " << folder_->file("run")
        << ", state_dir: " << folder_->file("state")
        << ", metrics: 'off', memory: 256MiB, workers: 2}\nstreams:\n  " << stream
        << ":\n    seed: 3\n    pipeline:\n      - read: {url: '" << folder_->file("shards")
        << "/*.tar', read_ahead: 1MiB}\n      - shuffle: {window: 30}\n"
        << "      - decode: {image: {key: u8, as: uint8, shape: [8, 8]}, label: {key: cls, as: "
           "int64}}\n      - echo: {factor: 2, window: 40}\n      - batch: {size: 8, "
        << last << "}\n      - publish: {slots: 8}\n";
  }

  static CommandResult daemon_command(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--runtime-dir", folder_->file("run")});
    return run_command(arguments);
  }

  // The lines of `read`, parsed; `arguments` follow the stream's name.
  static std::vector<Json> read(const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"read", "train"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const CommandResult result = daemon_command(all);
    EXPECT_EQ(result.status, 0) << result.err;
    std::vector<Json> lines;
    for (const std::string& line : result.lines()) lines.push_back(Json::parse(line));
    return lines;
  }

  static serve::ScratchFolder* folder_;
  static serve::Process* daemon_;
};

serve::ScratchFolder* DaemonCommands::folder_ = nullptr;
serve::Process* DaemonCommands::daemon_ = nullptr;

TEST_F(DaemonCommands, ListAndShowPrintTheStreams) {
  const CommandResult list = daemon_command({"list"});
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("sample x 2"));
  const Json streams = Json::parse(daemon_command({"list", "--json"}).out);
  ASSERT_EQ(streams.size(), 1U);
  EXPECT_EQ(streams[0]["records"], kDigits);
  const Json stream = Json::parse(daemon_command({"show", "train", "--json"}).out);
  EXPECT_EQ(stream["rows_per_epoch"], 2 * kDigits);
  EXPECT_EQ(stream["batches_per_epoch"], 15);
  const CommandResult unknown = daemon_command({"show", "tain"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_EQ(unknown.err, "echoline: no stream 'tain'; there are: train\n");
}

TEST_F(DaemonCommands, ShowStepPrintsTheSamplesThatReadGets) {
  const std::vector<Json> lines = read({"--job", "steps", "--ids", "--keys", "--epochs", "2"});
  ASSERT_EQ(lines.size(), 30U);
  for (const std::size_t place : {0U, 7U, 14U, 15U, 29U}) {
    const Json& seen = lines[place];
    const Json told =
        Json::parse(daemon_command({"show", "train", "--keys", "--step", seen["step"].dump(),
                                    "--epoch", seen["epoch"].dump()})
                        .out);
    for (const char* key : {"epoch", "step", "sample_ids", "uses", "fresh", "keys"}) {
      EXPECT_EQ(told[key], seen[key]) << key << " of step " << seen["step"];
    }
  }
  EXPECT_EQ(daemon_command({"show", "train", "--step", "15"}).err,
            "echoline: step 15: with batches of 8 an epoch has 15, counted from 0\n");
  EXPECT_EQ(daemon_command({"show", "train", "--epoch", "1"}).status, 2);
}

TEST_F(DaemonCommands, ReadSeesEachRecordAsOftenAsTheFactorSays) {
  const std::vector<Json> lines = read({"--job", "ids", "--ids", "--json"});
  ASSERT_EQ(lines.size(), 16U);
  std::map<int, std::set<int>> uses;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["step"], i);
    for (std::size_t row = 0; row < lines[i]["sample_ids"].size(); ++row) {
      EXPECT_TRUE(
          uses[lines[i]["sample_ids"][row]].insert(lines[i]["uses"][row].get<int>()).second);
    }
  }
  EXPECT_EQ(uses.size(), std::size_t{kDigits});
  for (const auto& [id, seen] : uses) EXPECT_EQ(seen, (std::set<int>{0, 1})) << id;
  EXPECT_EQ(lines.back()["samples"], 2 * kDigits);
  EXPECT_EQ(lines.back()["fresh"], kDigits);
  EXPECT_EQ(lines.back()["bytes"], 2 * kDigits * (64 + 8));
}

TEST_F(DaemonCommands, ReadGoesOnFromASavedState) {
  const std::string state = folder_->file("state.json");
  const std::vector<Json> whole = read({"--job", "whole", "--ids"});
  std::vector<Json> parts =
      read({"--job", "part", "--ids", "--batches", "5", "--save-state", state});
  for (const Json& line : read({"--job", "part", "--ids", "--state", state})) parts.push_back(line);
  EXPECT_EQ(parts, whole);
}

TEST_F(DaemonCommands, RanksTogetherReadWhatOneReads) {
  const std::vector<Json> whole = read({"--job", "one", "--ids", "--epochs", "1"});
  // Neither rank gets a batch before both are attached.
  const std::string command = std::string(ECHOLINE_COMMAND) +
                              " read train --job two --world-size 2 " + "--ids --runtime-dir " +
                              folder_->file("run");
  serve::Process first(
      {"/bin/sh", "-c", command + " --rank 0 > " + folder_->file("rank0") + " 2>/dev/null"}, "");
  const std::vector<Json> second =
      read({"--job", "two", "--world-size", "2", "--rank", "1", "--ids"});
  ASSERT_EQ(first.wait(20s), 0);
  std::ifstream file(folder_->file("rank0"));
  std::size_t step = 0;
  for (std::string line; std::getline(file, line); ++step) {
    Json ids = Json::parse(line)["sample_ids"];
    for (const Json& id : second.at(step)["sample_ids"]) ids.push_back(id);
    EXPECT_EQ(ids, whole.at(step)["sample_ids"]);
  }
  EXPECT_EQ(step, whole.size());
}

TEST_F(DaemonCommands, ChecksumsAreOfTheBytesAndKeysOfTheRecords) {
  const std::vector<Json> lines =
      read({"--job", "sums", "--ids", "--keys", "--checksum", "--row-checksums"});
  std::map<std::string, std::set<std::string>> by_key;
  for (const Json& line : lines) {
    EXPECT_EQ(line["checksums"]["image"].get<std::string>().size(), 16U);
    for (std::size_t row = 0; row < line["keys"].size(); ++row) {
      by_key[line["keys"][row]].insert(line["row_checksums"]["image"][row].get<std::string>());
    }
  }
  // Without augmentations all uses of a record have the same bytes, and records differ.
  std::set<std::string> all;
  for (const auto& [key, sums] : by_key) {
    EXPECT_EQ(sums.size(), 1U) << key;
    all.insert(*sums.begin());
  }
  EXPECT_EQ(by_key.size(), std::size_t{kDigits});
  EXPECT_EQ(all.size(), std::size_t{kDigits});
}

TEST_F(DaemonCommands, CreateAndDeleteAddAndTakeAStream) {
  write_config("other.yaml", "other", "last: drop");
  EXPECT_EQ(daemon_command({"create", folder_->file("other.yaml")}).out, "created other\n");
  // Creating the same stream again is ok, now also with --persist; a different one is refused.
  EXPECT_EQ(daemon_command({"create", folder_->file("other.yaml"), "--persist"}).out,
            "created other, kept over restarts\n");
  EXPECT_THAT(daemon_command({"show", "other"}).out, HasSubstr("other: ready, kept over restarts"));
  const CommandResult refused = daemon_command(
      {"create", folder_->file("other.yaml"), "--set", "streams.other.pipeline.echo.factor=1.5"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("stream 'other' exists and is another one: modified: "
                                     "pipeline[3].echo.factor: 2000 -> 1500; delete it first"));
  EXPECT_THAT(daemon_command({"list"}).out, HasSubstr("other"));
  EXPECT_EQ(daemon_command({"read", "other", "--batches", "1"}).status, 0);
  EXPECT_EQ(daemon_command({"delete", "other"}).out, "deleted other\n");
  EXPECT_EQ(daemon_command({"delete", "other"}).status, 1);
  const CommandResult missing = daemon_command({"delete", "other", "--allow-missing"});
  EXPECT_EQ(missing.status, 0);
  EXPECT_EQ(missing.out, "there was no stream other\n");
  EXPECT_EQ(daemon_command({"read", "other", "--batches", "1"}).status, 1);
}

TEST_F(DaemonCommands, CreateGivesThePlaceOfAMistakeThatTheDaemonFinds) {
  write_config("small.yaml", "small", "last: drop");
  const CommandResult refused = daemon_command(
      {"create", folder_->file("small.yaml"), "--set", "streams.small.pipeline.echo.window=2"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, StartsWith("echoline: --set streams.small.pipeline.echo.window=2: "
                                      "stream 'small': echo.window: with 2 "));
}

TEST_F(DaemonCommands, ADrainedStreamStaysAndTakesNoTrainers) {
  write_config("drained.yaml", "drained", "last: drop");
  ASSERT_EQ(daemon_command({"create", folder_->file("drained.yaml")}).status, 0);
  EXPECT_EQ(daemon_command({"drain", "drained"}).out, "drained drained\n");
  EXPECT_EQ(daemon_command({"drain", "drained", "--patience", "0"}).status, 0);
  EXPECT_EQ(Json::parse(daemon_command({"show", "drained", "--json"}).out)["state"], "drained");
  const CommandResult refused = daemon_command({"read", "drained", "--batches", "1"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("stream 'drained' was drained and takes no more trainers"));
  const CommandResult again = daemon_command({"create", folder_->file("drained.yaml")});
  EXPECT_THAT(again.err, HasSubstr("takes no trainers: stream 'drained' was drained"));
  EXPECT_EQ(daemon_command({"delete", "drained"}).status, 0);
  EXPECT_EQ(daemon_command({"drain", "drained"}).status, 1);
}

TEST_F(DaemonCommands, AStateFileThatHoldsNoStateIsRefused) {
  std::ofstream(folder_->file("empty.json")).close();
  for (const std::string& path : {folder_->file("empty.json"), std::string("/dev/zero")}) {
    const CommandResult refused = daemon_command({"read", "train", "--state", path});
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr(path + ": a state has 1 to 65536 bytes"));
  }
}

TEST_F(DaemonCommands, StateIsAnObjectByJob) {
  const CommandResult state = daemon_command({"state", "train"});
  EXPECT_EQ(state.status, 0) << state.err;
  EXPECT_TRUE(Json::parse(state.out).is_object());
  EXPECT_EQ(daemon_command({"state", "tain"}).status, 1);
}

TEST_F(DaemonCommands, CheckKnowsTheEpochOfIndexedDataAndTheMemory) {
  const CommandResult check = run_command({"check", folder_->file("train.yaml"), "--json"});
  ASSERT_EQ(check.status, 0) << check.err;
  const Json stream = Json::parse(check.out)["streams"]["train"];
  EXPECT_EQ(stream["echo_point"], "sample");
  EXPECT_EQ(stream["batches_per_epoch"], 15);
  EXPECT_GE(stream["memory_bytes"]["ring"], 8 * 8 * 64);
  EXPECT_GT(stream["memory_bytes"]["window_decoded"], 0);
  const CommandResult small =
      run_command({"check", folder_->file("train.yaml"), "--set", "daemon.memory=1MiB", "--set",
                   "streams.train.pipeline.publish.slots=4000"});
  EXPECT_EQ(small.status, 1);
  EXPECT_THAT(small.err, HasSubstr("daemon.memory is 1MiB"));
}

TEST_F(DaemonCommands, IndexReportsWhatItFoundAndPublishesOnRequest) {
  const CommandResult index =
      run_command({"index", folder_->file("shards") + "/*.tar", "--state-dir",
                   folder_->file("other-state"), "--publish", "--json"});
  ASSERT_EQ(index.status, 0) << index.err;
  const Json line = Json::parse(index.out);
  EXPECT_EQ(line["records"], kDigits);
  EXPECT_EQ(line["shards"], 3);
  EXPECT_EQ(line["published"], 3);
  EXPECT_EQ(run_command({"index", folder_->file("train.yaml")}).status, 0);
  // The work would be lost.
  const CommandResult unkept = run_command({"index", folder_->file("shards") + "/*.tar",
                                            "--state-dir", folder_->file("train.yaml") + "/state"});
  EXPECT_EQ(unkept.status, 1);
  EXPECT_THAT(unkept.err, HasSubstr("the index is not stored: "));
  EXPECT_THAT(unkept.err, HasSubstr("name another folder with --state-dir"));
  const CommandResult missing = run_command({"index", folder_->file("nothing-*.tar")});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("nothing-"));
}

}  // namespace
}  // namespace echoline::cli
