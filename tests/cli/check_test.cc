// `echoline check` checks the data that a configuration names, and reports the error's location in
// the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/command_run.h"
#include "cli/digits.h"
#include "serve/scratch_folder.h"

namespace echoline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Check : public ::testing::Test {
 protected:
  void SetUp() override {
    write_digits(folder_.path());
    const CommandResult packed =
        run_command({"pack", folder_.file("images-idx3-ubyte"), folder_.file("labels-idx1-ubyte"),
                     "--output", folder_.file("shards"), "--shard-records", "20"});
    ASSERT_EQ(packed.status, 0) << packed.err;
    // As for a data set that was never indexed.
    for (const char* shard : {"shard-000000", "shard-000001", "shard-000002"}) {
      ASSERT_TRUE(std::filesystem::remove(folder_.file("shards/") + shard + ".tar.echoline-index"));
    }
  }

  // Line 4 is `read`, 5 begins `decode`, 6 the field `image`, 8 is `echo`, 9 `batch`.
  CommandResult check(std::vector<std::string> changes, std::vector<std::string> flags = {}) const {
    std::string text = "daemon: {memory: 64MiB, state_dir: " + folder_.file("state") +
                       "}\n"
                       "streams:\n  train: {pipeline: [\n"
                       "      {read: {url: '" +
                       folder_.file("shards/shard-{000000..000002}.tar") +
                       "'}},\n"
                       "      {decode: {\n"
                       "        image: {key: u8, as: uint8, shape: [8, 8]},\n"
                       "        label: {key: cls, as: int64}}},\n"
                       "      {echo: {factor: 2, window: 40}},\n"
                       "      {batch: {size: 8}}]}\n";
    for (std::size_t i = 0; i + 1 < changes.size(); i += 2) {
      text.replace(text.find(changes[i]), changes[i].size(), changes[i + 1]);
    }
    std::ofstream(path()) << text;
    std::vector<std::string> all = {"check", path()};
    all.insert(all.end(), flags.begin(), flags.end());
    return run_command(all);
  }

  std::string path() const { return folder_.file("train.yaml"); }
  void index() const { ASSERT_EQ(run_command({"index", path()}).status, 0); }

  serve::ScratchFolder folder_;
};

TEST_F(Check, OfDataWithoutAnIndexSaysThatTheyAreThere) {
  const CommandResult good = check({});
  ASSERT_EQ(good.status, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("data: found; first records tried; epoch, echo window and memory "
                                  "can be checked after indexing"));
  EXPECT_THAT(good.out, HasSubstr("first: echo window and memory of 1 stream\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("state")));
  index();
  EXPECT_THAT(check({}).out, HasSubstr("epoch: 60 records, 120 rows, 15 batches\n"));
  EXPECT_THAT(check({}).out, HasSubstr("  memory to reserve: "));
  // Of other formats nothing is read: "ok" must not promise the keys.
  const CommandResult raw = check({".tar'}}", ".tar', format: jsonl}}"});
  EXPECT_THAT(raw.out, HasSubstr("first: records, echo window and memory of 1 stream\n"));
  EXPECT_THAT(raw.out, HasSubstr("data: found; records with their keys, epoch, echo window and"));
}

TEST_F(Check, TriesRecordsFromAllShardsAndCountsBadOnes) {
  // The labels of the last shard are no numbers: the content follows a header of 512 bytes.
  const std::string shard = folder_.file("shards/shard-000002.tar");
  std::string bytes = file_bytes(shard);
  for (std::size_t at = bytes.find(".cls"); at != std::string::npos;
       at = bytes.find(".cls", at + 1))
    bytes[at / 512 * 512 + 512] = 'x';
  std::ofstream(shard, std::ios::binary) << bytes;
  check({});  // writes the configuration
  index();
  const CommandResult too_many = check({});
  EXPECT_EQ(too_many.status, 1);
  EXPECT_THAT(too_many.err, HasSubstr("5 of 16 records that were tried are bad, and "
                                      "bad_records.limit allows 1 in an epoch; the first one: "
                                      "sample 41 (key "));
  const std::vector<std::string> limit = {"{pipeline", "{bad_records: {limit: 0.5}, pipeline"};
  const CommandResult result = check(limit);
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("ok, except for bad records in 1 stream\n"));
  EXPECT_THAT(result.out, HasSubstr("  records tried: 16, bad: 5\n    sample 41 (key "));
  const auto json = nlohmann::json::parse(check(limit, {"--json"}).out)["streams"]["train"];
  EXPECT_EQ(json["records_tried"], 16);
  EXPECT_EQ(json["records_bad"], 5);
  EXPECT_EQ(json["tried_as_intended"], true);
}

TEST_F(Check, OfDataWhoseIndexIsPublishedKnowsItIfItIsThereForEveryShard) {
  check({});
  const std::string elsewhere = folder_.file("other-state");
  ASSERT_EQ(run_command({"index", path(), "--publish", "--state-dir", elsewhere}).status, 0);
  EXPECT_THAT(check({}).out, HasSubstr("epoch: 60 records, 120 rows, 15 batches\n"));
  std::filesystem::remove_all(folder_.file("state"));
  ASSERT_TRUE(std::filesystem::remove(folder_.file("shards/shard-000001.tar.echoline-index")));
  const std::string unindexed = check({}).out;
  EXPECT_THAT(unindexed, HasSubstr("can be checked after indexing"));
  EXPECT_THAT(unindexed, HasSubstr(": ok, without what has to be indexed first: echo window and "
                                   "memory of 1 stream\n"));
}

TEST_F(Check, OfAShardThatIsMissingGivesThePlaceOfItsAddress) {
  const CommandResult missing = check({"000002}", "000003}"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, StartsWith("echoline: " + path() + ":4:20: stream 'train': "));
  EXPECT_THAT(missing.err, HasSubstr("shard-000003.tar: No such file"));
  EXPECT_EQ(missing.out, "");
}

TEST_F(Check, OfAPatternThatMatchesNothingSaysSo) {
  const CommandResult nothing = check({"shard-{000000..000002}", "photo-*"});
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.err, StartsWith("echoline: " + path() + ":4:20: stream 'train': "));
  EXPECT_THAT(nothing.err, HasSubstr("photo-*.tar: no file matches"));
}

TEST_F(Check, OfAKeyThatNoRecordHasGivesThePlaceOfTheFieldWithAndWithoutIndex) {
  for (const bool indexed : {false, true}) {
    if (indexed) {
      check({});
      index();
    }
    const CommandResult wrong = check({"key: u8", "key: jpg"});
    EXPECT_EQ(wrong.status, 1);
    EXPECT_THAT(wrong.err, StartsWith("echoline: " + path() + ":6:9: stream 'train': "));
    EXPECT_THAT(wrong.err, HasSubstr("it has: u8, cls"));
  }
}

TEST_F(Check, OfAWindowThatIsTooSmallForTheDataGivesItsPlace) {
  check({});
  index();
  const CommandResult small = check({"window: 40", "window: 3"});
  EXPECT_EQ(small.status, 1);
  EXPECT_THAT(small.err, StartsWith("echoline: " + path() + ":8:34: stream 'train': echo.window"));
}

TEST_F(Check, OfABudgetThatIsTooSmallGivesItsPlace) {
  check({});
  index();
  const CommandResult small =
      check({"64MiB", "1MiB", "batch: {size: 8}}", "batch: {size: 8}}, {publish: {slots: 4000}}"});
  EXPECT_EQ(small.status, 1);
  EXPECT_THAT(small.err, StartsWith("echoline: " + path() + ":1:18: key 'memory': the streams "));
}

TEST_F(Check, OfAStoreThatDoesNotRunReportsIt) {
  ::setenv("AWS_ACCESS_KEY_ID", "somebody", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  const CommandResult away = check({folder_.file("shards/shard-{000000..000002}.tar") + "'",
                                    "s3://photos/a.tar', endpoint: 'http://127.0.0.1:1'"});
  EXPECT_EQ(away.status, 1);
  EXPECT_THAT(away.err, StartsWith("echoline: " + path() + ":4:20: stream 'train': "));
  EXPECT_THAT(away.err, HasSubstr("127.0.0.1"));
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  ::unsetenv("AWS_ACCESS_KEY_ID");
}

TEST_F(Check, OfAStoreWithoutCredentialsNamesTheVariable) {
  ::unsetenv("AWS_ACCESS_KEY_ID");
  const CommandResult keyless = check({folder_.file("shards/shard-{000000..000002}.tar") + "'",
                                       "s3://photos/a.tar', credentials: environment"});
  EXPECT_EQ(keyless.status, 1);
  EXPECT_THAT(keyless.err, StartsWith("echoline: " + path() + ":4:20: stream 'train': "));
  EXPECT_THAT(keyless.err, HasSubstr("AWS_ACCESS_KEY_ID"));
}

TEST_F(Check, OfflineLooksAtTheConfigurationAlone) {
  const CommandResult good = check({folder_.file("shards"), "s3://nobody"}, {"--offline"});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr(": ok, without the data and memory of 1 stream\n"));
  EXPECT_THAT(good.out, HasSubstr("data: not checked"));
  const CommandResult json =
      check({folder_.file("shards"), "s3://nobody"}, {"--offline", "--json"});
  EXPECT_FALSE(nlohmann::json::parse(json.out)["streams"]["train"]["data_seen"]);
  EXPECT_EQ(check({"size: 8", "sise: 8"}, {"--offline"}).status, 1);
}

}  // namespace
}  // namespace echoline::cli
