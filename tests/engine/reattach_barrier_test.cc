// Whom a daemon awaits after a restart, and what it keeps to know them.
#include "engine/jobs/reattach_barrier.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/process.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

Trainer trainer(const char* job, std::uint32_t rank = 0, pid_t pid = ::getpid()) {
  return {.stream = "train",
          .job = {.name = job, .world_size = 2, .batch_size = 8},
          .rank = rank,
          .pid = pid,
          .begin_ticks = process_begin(pid)};
}

ReattachBarrier::Returning returning(const Trainer& trainer, std::uint64_t row) {
  ReattachBarrier::Returning made;
  made.connection = row;
  std::strcpy(made.request.job, trainer.job.name.c_str());
  made.request.world_size = trainer.job.world_size;
  made.request.batch_size = trainer.job.batch_size;
  made.request.rank = trainer.rank;
  made.request.row = row;
  made.request.reattaching = 1;
  return made;
}

// A child that has ended, unknown to nobody but its parent.
pid_t ended_child() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  return pid;
}

TEST(ReattachBarrier, EndsWhenAllWhoAreExpectedHaveComeSmallestPositionFirst) {
  const Trainer first = trainer("a"), second = trainer("b", 1);
  ReattachBarrier reunion({first, second}, 10 * kSecond);
  EXPECT_TRUE(reunion.awaits(returning(first, 0).request, kSecond));
  reunion.add(returning(first, 24), kSecond);
  EXPECT_TRUE(reunion.take_due(5 * kSecond).empty());
  reunion.add(returning(second, 16), 5 * kSecond);
  EXPECT_TRUE(reunion.take_due(5 * kSecond).empty()) << "one that nobody knew of may be on its way";
  const auto due = reunion.take_due(6 * kSecond);
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(due[0].request.row, 16U);
  EXPECT_EQ(due[1].request.row, 24U);
}

TEST(ReattachBarrier, AnotherRankOrSizeIsNotTheOneThatIsExpected) {
  ReattachBarrier reunion({trainer("a")}, 10 * kSecond);
  reunion.add(returning(trainer("a", 1), 0), kSecond);
  Trainer other = trainer("a");
  other.job.batch_size = 4;
  reunion.add(returning(other, 0), kSecond);
  EXPECT_TRUE(reunion.take_due(5 * kSecond).empty());
  EXPECT_EQ(reunion.expected().size(), 1U);
  EXPECT_EQ(reunion.take_due(10 * kSecond).size(), 2U) << "the time is over";
  EXPECT_TRUE(reunion.expected().empty());
  EXPECT_FALSE(reunion.awaits(returning(trainer("a"), 0).request, 10 * kSecond));
}

TEST(ReattachBarrier, TheDeadAreNotWaitedFor) {
  const pid_t child = ended_child();
  Trainer dead = trainer("dead", 0, child);
  dead.begin_ticks = 1;  // what the file would have told of it
  ReattachBarrier reunion({dead}, 10 * kSecond);
  reunion.add(returning(trainer("a"), 0), kSecond);
  EXPECT_EQ(reunion.take_due(2 * kSecond).size(), 1U);
  ::waitpid(child, nullptr, 0);
}

TEST(ReattachBarrier, OneWhoseLifeCannotBeSeenIsWaitedFor) {
  ReattachBarrier reunion({trainer("other container", 0, 0)}, 10 * kSecond);
  reunion.add(returning(trainer("a"), 0), kSecond);
  EXPECT_TRUE(reunion.take_due(9 * kSecond).empty());
}

class RosterTest : public testing::Test {
 protected:
  RosterTest() { std::filesystem::create_directory(folder_); }
  ~RosterTest() override { std::filesystem::remove_all(folder_); }
  bool has_file() const { return std::filesystem::exists(folder_ + "/trainers.json"); }

  const std::string folder_ = testing::TempDir() + "roster-" + std::to_string(::getpid());
};

TEST_F(RosterTest, TheNextDaemonKnowsWhoWasThereAndLives) {
  const Trainer here = trainer("a \"quoted\" job");
  Trainer other = trainer("b");
  other.stream = "other";
  Trainer before = trainer("ended");
  before.begin_ticks += 1;  // its number is another process's now
  AttachedTrainersFile(folder_).keep({}, {here, before, other});
  AttachedTrainersFile roster(folder_);
  EXPECT_EQ(roster.left_behind("train"), std::vector{here});
  roster.keep({"train"}, {});
  EXPECT_EQ(AttachedTrainersFile(folder_).left_behind("other"), std::vector{other})
      << "of a stream that is not there yet";
  EXPECT_TRUE(AttachedTrainersFile(folder_).left_behind("train").empty());
}

TEST_F(RosterTest, NobodyLeavesNoFile) {
  {
    AttachedTrainersFile roster(folder_);
    roster.keep({"train"}, {trainer("a")});
    EXPECT_TRUE(has_file());
    roster.keep({"train"}, {});
    EXPECT_FALSE(has_file());
    Trainer dead = trainer("a");
    dead.begin_ticks += 1;
    roster.keep({"train"}, {dead});
  }
  EXPECT_FALSE(has_file());
}

TEST_F(RosterTest, ADaemonThatEndsBeforeItsStreamsAreThereLeavesTheFileAsItWas) {
  const Trainer here = trainer("a");
  AttachedTrainersFile(folder_).keep({"train"}, {here});
  { const AttachedTrainersFile failed_start(folder_); }
  EXPECT_EQ(AttachedTrainersFile(folder_).left_behind("train"), std::vector{here});
}

TEST_F(RosterTest, AProcessThatCannotBeKnownAgainIsNotAwaited) {
  Trainer unknown = trainer("a");
  unknown.begin_ticks = 0;
  EXPECT_FALSE(unknown.is_alive());
  unknown.pid = 4'000'000;
  EXPECT_FALSE(unknown.is_alive());
  unknown.pid = -7;
  EXPECT_FALSE(unknown.is_alive());
}

TEST_F(RosterTest, AFileThatIsLongerThanAnyDaemonsNamesNobody) {
  AttachedTrainersFile(folder_).keep({"train"}, {trainer("a")});
  EXPECT_EQ(AttachedTrainersFile(folder_).left_behind("train").size(), 1U);
  std::ofstream(folder_ + "/trainers.json", std::ios::app) << std::string(2 << 20, ' ');
  EXPECT_TRUE(AttachedTrainersFile(folder_).left_behind("train").empty());
}

TEST_F(RosterTest, AFileThatCannotBeReadNamesNobody) {
  for (const char* text : {"", "{", "[1]", R"([{"stream": "train"}])", R"({"a": {"b": 1}})"}) {
    std::ofstream(folder_ + "/trainers.json") << text;
    EXPECT_TRUE(AttachedTrainersFile(folder_).left_behind("train").empty()) << text;
  }
}

}  // namespace
}  // namespace echoline::engine
