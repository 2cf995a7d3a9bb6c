// Which trainers a daemon waits for after a restart.
#include "engine/jobs/reattach_barrier.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

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

AttachCall returning(const Trainer& trainer, std::uint64_t row) {
  AttachCall made;
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
  ReattachBarrier barrier({first, second}, 10 * kSecond);
  EXPECT_TRUE(barrier.collects(returning(first, 0).request, kSecond));
  barrier.add(returning(first, 24), kSecond);
  EXPECT_TRUE(barrier.take_due(5 * kSecond).empty());
  barrier.add(returning(second, 16), 5 * kSecond);
  EXPECT_TRUE(barrier.take_due(5 * kSecond).empty()) << "one that nobody knew of may be on its way";
  const auto due = barrier.take_due(6 * kSecond);
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(due[0].request.row, 16U);
  EXPECT_EQ(due[1].request.row, 24U);
}

TEST(ReattachBarrier, AnotherRankOrSizeIsNotTheOneThatIsExpected) {
  ReattachBarrier barrier({trainer("a")}, 10 * kSecond);
  barrier.add(returning(trainer("a", 1), 0), kSecond);
  Trainer other = trainer("a");
  other.job.batch_size = 4;
  barrier.add(returning(other, 0), kSecond);
  EXPECT_TRUE(barrier.take_due(5 * kSecond).empty());
  EXPECT_EQ(barrier.expected().size(), 1U);
  EXPECT_EQ(barrier.take_due(10 * kSecond).size(), 2U) << "the time is over";
  EXPECT_TRUE(barrier.expected().empty());
  EXPECT_FALSE(barrier.collects(returning(trainer("a"), 0).request, 10 * kSecond));
}

TEST(ReattachBarrier, TheDeadAreNotWaitedFor) {
  const pid_t child = ended_child();
  Trainer dead = trainer("dead", 0, child);
  dead.begin_ticks = 1;  // as the file would say
  ReattachBarrier barrier({dead}, 10 * kSecond);
  barrier.add(returning(trainer("a"), 0), kSecond);
  EXPECT_EQ(barrier.take_due(2 * kSecond).size(), 1U);
  ::waitpid(child, nullptr, 0);
}

TEST(ReattachBarrier, OneWhoseLifeCannotBeSeenIsWaitedFor) {
  ReattachBarrier barrier({trainer("other container", 0, 0)}, 10 * kSecond);
  barrier.add(returning(trainer("a"), 0), kSecond);
  EXPECT_TRUE(barrier.take_due(9 * kSecond).empty());
}

}  // namespace
}  // namespace echoline::engine
