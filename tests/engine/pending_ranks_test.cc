// A pass waits for the ranks of a job that has begun, and for jobs that are named: no slot that
// they need is overwritten.
#include "engine/jobs/pending_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/small_stream.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

class PendingRanksTest : public testing::Test {
 protected:
  ~PendingRanksTest() override { retire_pass(*pass_); }

  Consumer rank(std::uint32_t rank, std::uint32_t world_size = 2) {
    Consumer consumer;
    consumer.job = {.name = "job", .world_size = world_size, .batch_size = 4};
    consumer.rank = rank;
    consumer.local_ranks = world_size;
    consumer.pass = pass_;
    consumer.peer.pid = ::getpid();
    return consumer;
  }
  // Whether some reader holds the ring's first slot.
  bool is_held() { return pass_->ring().next_wanted().has_value(); }
  std::vector<PendingRanks::Late> release(std::uint64_t now_ns, bool reading = true) {
    return pending_.release(now_ns, [reading](const Pass&, const Job&) { return reading; });
  }

  SmallStream small_;
  const std::shared_ptr<Pass> pass_ = small_.pass(small_.open().core);
  PendingRanks pending_{"train"};
};

TEST_F(PendingRanksTest, HoldsThePassUntilAllRanksHaveCome) {
  pending_.note_rank(rank(0), 0, /*begins=*/true, kSecond);
  EXPECT_TRUE(is_held());
  EXPECT_TRUE(pending_.awaits_rank(*pass_));
  EXPECT_TRUE(release(2 * kSecond).empty());
  EXPECT_TRUE(is_held());
  pending_.note_rank(rank(1), 0, false, 2 * kSecond);
  EXPECT_TRUE(release(2 * kSecond).empty());
  EXPECT_FALSE(is_held());
  EXPECT_FALSE(pending_.awaits_rank(*pass_));
}

TEST_F(PendingRanksTest, GivesUpAfterHalfAMinuteAndNamesTheJob) {
  pending_.note_rank(rank(0), 0, true, kSecond);
  EXPECT_TRUE(release(30 * kSecond).empty());
  const auto late = release(31 * kSecond);
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].job.name, "job");
  EXPECT_THAT(late[0].status.message(), testing::HasSubstr("1 of 2 ranks of job job attached"));
  EXPECT_FALSE(is_held());
}

TEST_F(PendingRanksTest, EndsWhenTheJobHasLeft) {
  pending_.note_rank(rank(0), 0, true, kSecond);
  EXPECT_TRUE(release(2 * kSecond, /*reading=*/false).empty());
  EXPECT_FALSE(is_held());
}

TEST_F(PendingRanksTest, AJobThatComesBackOrHasOneRankIsNotWaitedFor) {
  pending_.note_rank(rank(0), 0, /*begins=*/false, kSecond);
  pending_.note_rank(rank(0, 1), 0, true, kSecond);
  EXPECT_FALSE(is_held());
}

TEST_F(PendingRanksTest, TellsWhereTheJobBegan) {
  Consumer first = rank(0);
  first.start = {0, 8};
  pending_.note_rank(first, 0, true, kSecond);
  EXPECT_EQ(pending_.start_of(first.job), (plan::Position{0, 8}));
  Job other = first.job;
  other.name = "other";
  EXPECT_EQ(pending_.start_of(other), std::nullopt);
}

TEST_F(PendingRanksTest, WaitsForNamedJobsWithoutATimeLimit) {
  ASSERT_TRUE(pending_.await_jobs(pass_, {"teacher", "job"}).ok());
  EXPECT_EQ(pending_.missing_jobs(), "teacher, job");
  EXPECT_TRUE(pending_.awaits_job(*pass_));
  pending_.note_rank(rank(0, 1), 0, true, kSecond);
  release(3600 * kSecond);
  EXPECT_EQ(pending_.missing_jobs(), "teacher");
  EXPECT_TRUE(is_held());
  pending_.forget(*pass_);
  EXPECT_EQ(pending_.missing_jobs(), "");
}

TEST_F(PendingRanksTest, WaitsForTrainersThatMoveWhileTheyLive) {
  Consumer moving = rank(0);
  moving.moving_until_ns = 3 * kSecond;
  pending_.await_moving(pass_, {0, 4}, moving);
  EXPECT_EQ(pending_.start_of(moving.job), (plan::Position{0, 4}));
  release(2 * kSecond);
  EXPECT_TRUE(is_held());
  release(3 * kSecond);
  EXPECT_FALSE(is_held()) << "it did not come in time";
  moving.peer.pid = 4'000'000;  // there is no such process
  pending_.await_moving(pass_, {0, 4}, moving);
  release(2 * kSecond);
  EXPECT_FALSE(is_held());
}

}  // namespace
}  // namespace echoline::engine
