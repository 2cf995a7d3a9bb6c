// The file from which a daemon knows which trainers the one before had.
#include "engine/jobs/attached_trainers_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/process.h"

namespace echoline::engine {
namespace {

Trainer trainer(const char* job) {
  return {.stream = "train",
          .job = {.name = job, .world_size = 2, .batch_size = 8},
          .rank = 0,
          .pid = ::getpid(),
          .begin_ticks = process_begin(::getpid())};
}

class TrainersFile : public testing::Test {
 protected:
  TrainersFile() { std::filesystem::create_directory(folder_); }
  ~TrainersFile() override { std::filesystem::remove_all(folder_); }
  bool has_file() const { return std::filesystem::exists(folder_ + "/trainers.json"); }

  const std::string folder_ = testing::TempDir() + "trainers-" + std::to_string(::getpid());
};

TEST_F(TrainersFile, TheNextDaemonKnowsWhoWasThereAndLives) {
  const Trainer here = trainer("a \"quoted\" job");
  Trainer other = trainer("b");
  other.stream = "other";
  Trainer before = trainer("ended");
  before.begin_ticks += 1;  // its number is another process's now
  AttachedTrainersFile(folder_).keep({}, {here, before, other});
  AttachedTrainersFile file(folder_);
  EXPECT_EQ(file.left_behind("train"), std::vector{here});
  file.keep({"train"}, {});
  EXPECT_EQ(AttachedTrainersFile(folder_).left_behind("other"), std::vector{other})
      << "of a stream that is not there yet";
  EXPECT_TRUE(AttachedTrainersFile(folder_).left_behind("train").empty());
}

TEST_F(TrainersFile, NobodyLeavesNoFile) {
  {
    AttachedTrainersFile file(folder_);
    file.keep({"train"}, {trainer("a")});
    EXPECT_TRUE(has_file());
    file.keep({"train"}, {});
    EXPECT_FALSE(has_file());
    Trainer dead = trainer("a");
    dead.begin_ticks += 1;
    file.keep({"train"}, {dead});
  }
  EXPECT_FALSE(has_file());
}

TEST_F(TrainersFile, ADaemonThatEndsBeforeItsStreamsAreThereLeavesTheFileAsItWas) {
  const Trainer here = trainer("a");
  AttachedTrainersFile(folder_).keep({"train"}, {here});
  { const AttachedTrainersFile failed_start(folder_); }
  EXPECT_EQ(AttachedTrainersFile(folder_).left_behind("train"), std::vector{here});
}

TEST_F(TrainersFile, AProcessThatCannotBeKnownAgainIsNotAwaited) {
  Trainer unknown = trainer("a");
  unknown.begin_ticks = 0;
  EXPECT_FALSE(unknown.is_alive());
  unknown.pid = 4'000'000;
  EXPECT_FALSE(unknown.is_alive());
  unknown.pid = -7;
  EXPECT_FALSE(unknown.is_alive());
}

TEST_F(TrainersFile, AFileThatIsLongerThanAnyDaemonsNamesNobody) {
  AttachedTrainersFile(folder_).keep({"train"}, {trainer("a")});
  EXPECT_EQ(AttachedTrainersFile(folder_).left_behind("train").size(), 1U);
  std::ofstream(folder_ + "/trainers.json", std::ios::app) << std::string(2 << 20, ' ');
  EXPECT_TRUE(AttachedTrainersFile(folder_).left_behind("train").empty());
}

TEST_F(TrainersFile, AFileThatCannotBeReadNamesNobody) {
  for (const char* text : {"", "{", "[1]", R"([{"stream": "train"}])", R"({"a": {"b": 1}})"}) {
    std::ofstream(folder_ + "/trainers.json") << text;
    EXPECT_TRUE(AttachedTrainersFile(folder_).left_behind("train").empty()) << text;
  }
}

}  // namespace
}  // namespace echoline::engine
