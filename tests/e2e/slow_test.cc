// Jobs that fall behind (publish.when_slow), and messages about the other ranks of a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "e2e/rig.h"

namespace echoline::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kSlots = 4;
constexpr std::uint64_t kBatches = 40;  // several rings, across epochs

std::string steps(const std::string& publish, const std::string& side = "8") {
  return "      - shuffle: {window: 20}\n"
         "      - decode: {image: {key: u8, as: uint8, shape: [" +
         side + ", " + side +
         ", 1]}, label: {key: cls, as: int64}}\n"
         "      - batch: {size: 8, last: drop}\n"
         "      - publish: {slots: 4" +
         publish + "}\n";
}

class Slow : public testing::Test {
 protected:
  void create(const std::string& publish) {
    const Status created = rig_.create("train", steps(publish));
    ASSERT_TRUE(created.ok()) << created.message();
    reference_ = read_batches(*std::make_unique<Loader>(rig_.attach("train")), kBatches);
  }
  engine::StreamStats stats() { return rig_.engine().stats().streams.at(0); }

  Rig rig_;
  std::vector<SeenRow> reference_;
};

// The next message, which the loader finds when it takes batches; none after 5 s.
std::optional<std::string> news_of(Loader& loader) {
  for (int turn = 0; turn < 500; ++turn) {
    if (auto news = loader.take_news()) return news;
    Batch batch;
    (void)loader.next_within(std::chrono::milliseconds(0), batch);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return std::nullopt;
}

TEST_F(Slow, UnderSplitTheOthersContinueAndAllGetEveryRowOnce) {
  create(", when_slow: split");
  Loader slow = rig_.attach("train", {.job = "slow"});
  Loader fast = rig_.attach("train", {.job = "fast"});
  std::optional<Batch> held = slow.next();
  std::vector<SeenRow> slow_rows;
  append_rows(*held, slow_rows);
  const std::vector<SeenRow> first = slow_rows;
  EXPECT_EQ(read_batches(fast, kBatches), reference_);
  EXPECT_EQ(stats().slow.split, 1U);
  EXPECT_EQ(stats().passes, 2U);
  std::vector<SeenRow> again;
  append_rows(*held, again);
  EXPECT_EQ(again, first) << "a held batch changed";
  held.reset();
  const std::vector<SeenRow> rest = read_batches(slow, kBatches - 1);
  slow_rows.insert(slow_rows.end(), rest.begin(), rest.end());
  EXPECT_EQ(slow_rows, reference_);
}

TEST_F(Slow, UnderSplitAllRanksOfAJobMoveTogether) {
  create(", when_slow: split");
  Loader slow = rig_.attach("train", {.job = "slow"});
  const std::optional<Batch> held = slow.next();
  std::vector<std::vector<SeenRow>> rows(2);
  {
    std::vector<std::jthread> ranks;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      ranks.emplace_back([&, rank] {
        Loader loader = rig_.attach("train", {.job = "fast", .rank = rank, .world_size = 2});
        rows[rank] = read_batches(loader, kBatches);
      });
    }
  }
  EXPECT_EQ(stats().slow.split, 1U);
  EXPECT_EQ(rows[0].size() + rows[1].size(), reference_.size());
  for (const std::uint64_t batch : {0, 3, 39}) {
    EXPECT_EQ(rows[0].at(batch * 4), reference_.at(batch * 8)) << "batch " << batch;
    EXPECT_EQ(rows[1].at(batch * 4), reference_.at(batch * 8 + 4)) << "batch " << batch;
  }
}

TEST_F(Slow, UnderDetachTheSlowJobEndsWithItsLagNamedAndKeepsItsViews) {
  create(", when_slow: detach, lag: 16");
  Loader slow = rig_.attach("train", {.job = "slow"});
  Loader fast = rig_.attach("train", {.job = "fast"});
  std::optional<Batch> held = slow.next();
  std::vector<SeenRow> first, again;
  append_rows(*held, first);
  EXPECT_EQ(read_batches(fast, kBatches), reference_);
  EXPECT_EQ(stats().slow.detached, 1U);
  append_rows(*held, again);
  EXPECT_EQ(again, first);
  try {
    read_batches(slow, kSlots + 1);
    FAIL() << "still attached";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ECHOLINE_DETACHED);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("job slow is 24 rows behind"), HasSubstr("publish.lag is 16")));
  }
  Loader back = rig_.attach("train", {.job = "slow", .state = slow.state()});
  EXPECT_EQ(read_batches(back, 3),
            std::vector(reference_.begin() + kSlots * 8, reference_.begin() + (kSlots + 3) * 8));
}

TEST(SlowWithoutMemory, IsWaitedForAndCounted) {
  Rig rig({.side = 150, .memory = "4MiB"});  // a ring is 0.7 MiB
  const Status created =
      rig.create("train", steps(", when_slow: split", "150"), "", ", read_ahead: 2MiB");
  ASSERT_TRUE(created.ok()) << created.message();
  Loader slow = rig.attach("train", {.job = "slow"});
  Loader fast = rig.attach("train", {.job = "fast"});
  std::optional<Batch> held = slow.next();
  read_batches(fast, kSlots);
  Batch batch;
  EXPECT_EQ(fast.next_within(std::chrono::milliseconds(1500), batch), ECHOLINE_TIMEOUT);
  EXPECT_EQ(rig.engine().stats().streams.at(0).slow.refused, 1U);
  held.reset();
  EXPECT_EQ(fast.next_within(std::chrono::milliseconds(1500), batch), ECHOLINE_OK);
}

TEST_F(Slow, RanksThatLeaveALoopAtDifferentBatchesGetAMessage) {
  create("");
  Loader first = rig_.attach("train", {.rank = 0, .world_size = 2});
  Loader second = rig_.attach("train", {.rank = 1, .world_size = 2});
  read_batches(first, 2);
  read_batches(second, 2);
  first.begin_epoch();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(first.take_news(), std::nullopt) << "the second rank may still do the same";
  read_batches(second, 2);
  for (Loader* loader : {&first, &second}) {
    EXPECT_THAT(news_of(*loader).value_or("nothing"),
                AllOf(HasSubstr("rank 1 is at epoch 0 row"), HasSubstr("what rank 0 left out")));
  }
}

// Reads at the same time: a rank holds the slots that it left out until it takes its next batch.
void read_both(Loader& first, Loader& second, std::uint64_t batches) {
  const std::jthread other([&] { read_batches(second, batches); });
  read_batches(first, batches);
}

TEST_F(Slow, RanksThatLeaveALoopAtTheSameBatchGetNoMessage) {
  create("");
  Loader first = rig_.attach("train", {.rank = 0, .world_size = 2});
  Loader second = rig_.attach("train", {.rank = 1, .world_size = 2});
  for (int epoch = 0; epoch < 3; ++epoch) {
    read_both(first, second, 2);
    first.begin_epoch();
    second.begin_epoch();
    first.skip(1);
    second.skip(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  read_both(first, second, 1);
  EXPECT_EQ(first.take_news(), std::nullopt);
  EXPECT_EQ(second.take_news(), std::nullopt);
}

TEST_F(Slow, ARankThatLeavesInsideAnEpochIsAMessageToTheOthers) {
  create("");
  Loader stays = rig_.attach("train", {.rank = 0, .world_size = 2});
  {
    Loader leaves = rig_.attach("train", {.rank = 1, .world_size = 2});
    read_batches(leaves, 2);
  }
  EXPECT_THAT(news_of(stays).value_or("nothing"),
              AllOf(HasSubstr("rank 1/2"), HasSubstr("left at epoch 0 row 16")));
}

TEST_F(Slow, ARankThatAttachesAgainAtOnceIsNoMessage) {
  create("");
  Loader stays = rig_.attach("train", {.rank = 0, .world_size = 2});
  Loader returns = rig_.attach("train", {.rank = 1, .world_size = 2});
  read_both(stays, returns, 2);
  returns = rig_.attach("train", {.rank = 1, .world_size = 2, .state = returns.state()});
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  read_both(stays, returns, 4);
  EXPECT_EQ(stays.take_news(), std::nullopt);
}

TEST_F(Slow, RanksOfOtherHostsAreNotWaitedFor) {
  create("");
  Loader loader = rig_.attach("train", {.rank = 2, .world_size = 4, .local_world_size = 1});
  const auto begin = std::chrono::steady_clock::now();
  read_batches(loader, 3 * kSlots);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(PublishJobs, TheFirstJobGetsAMessageThatNamesTheMissingJobs) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", steps(", jobs: [teacher, student]")).ok());
  Loader student = rig.attach("train", {.job = "student"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  read_batches(student, 1);
  EXPECT_EQ(student.take_news(), std::nullopt) << "the other job may still be starting";
  EXPECT_THAT(news_of(student).value_or("nothing"), HasSubstr("publish.jobs): teacher"));
}

}  // namespace
}  // namespace echoline::e2e
