// What the ranks of a job are notified of about each other.
#include "engine/jobs/rank_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/process.h"
#include "echoline/shm/cursor_steps.h"
#include "engine/small_stream.h"

namespace echoline::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kMs = 1'000'000;

class RankEventsTest : public testing::Test {
 protected:
  ~RankEventsTest() override {
    for (shm::CursorPage* page : pages_) ::munmap(page, shm::kPageBytes);
    retire_pass(*pass_);
  }

  // A rank that is attached; its cursor page, as the trainer writes it.
  shm::CursorPage& attach(std::uint32_t rank) {
    const ring::Ring::Reader reader = pass_->ring().add_reader(0, {}).value();
    Consumer consumer;
    consumer.connection = 100 + rank;
    consumer.job = {.name = "job", .world_size = 2, .batch_size = 4};
    consumer.rank = rank;
    consumer.peer.pid = ::getpid();
    consumer.begin_ticks = process_begin(::getpid());
    consumer.pass = pass_;
    consumer.reader = reader.id;
    consumers_.push_back(consumer);
    void* page =
        ::mmap(nullptr, shm::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, reader.cursor_fd, 0);
    pages_.push_back(static_cast<shm::CursorPage*>(page));
    return *pages_.back();
  }
  void detach(std::uint32_t rank, std::uint64_t now_ns) {
    const auto is_rank = [rank](const Consumer& consumer) { return consumer.rank == rank; };
    const auto found = std::find_if(consumers_.begin(), consumers_.end(), is_rank);
    events_.note_gone(*found, now_ns);
    consumers_.erase(found);
  }
  std::vector<TrainerNotice> look(std::uint64_t now_ns) { return events_.look(consumers_, now_ns); }

  SmallStream small_;
  const std::shared_ptr<Pass> pass_ = small_.pass(small_.open().core);
  RankEvents events_{"train"};
  std::list<Consumer> consumers_;
  std::vector<shm::CursorPage*> pages_;
};

TEST_F(RankEventsTest, ARankThatLeavesInsideAnEpochIsReportedToTheOthers) {
  attach(0);
  shm::write_next(attach(1), 0, 16);
  detach(1, 1000 * kMs);
  EXPECT_TRUE(look(1100 * kMs).empty()) << "its process may be dying";
  const auto notices = look(1300 * kMs);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].connection, 100U);
  EXPECT_THAT(notices[0].status.message(),
              AllOf(HasSubstr("job job rank 1/2"), HasSubstr("left at epoch 0 row 16")));
  EXPECT_TRUE(look(1400 * kMs).empty()) << "once";
}

TEST_F(RankEventsTest, ARankThatDiedIsReportedAtOnce) {
  attach(0);
  shm::write_next(attach(1), 2, 8);
  consumers_.back().begin_ticks += 1;  // its number is another process's now
  detach(1, 1000 * kMs);
  const auto notices = look(1000 * kMs);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_THAT(notices[0].status.message(), HasSubstr("is gone with its process at epoch 2 row 8"));
}

TEST_F(RankEventsTest, OneThatLeavesAtAnEpochsEndOrMovesOrAttachesAgainIsNot) {
  attach(0);
  shm::write_next(attach(1), 1, 0);
  detach(1, 1000 * kMs);
  EXPECT_TRUE(look(2000 * kMs).empty()) << "it may be done";
  shm::write_next(attach(1), 1, 4);
  consumers_.back().moving = true;
  detach(1, 3000 * kMs);
  EXPECT_TRUE(look(4000 * kMs).empty());
  shm::write_next(attach(1), 1, 4);
  detach(1, 5000 * kMs);
  attach(1);
  EXPECT_TRUE(look(6000 * kMs).empty());
}

TEST_F(RankEventsTest, ARankThatTakesWhatAnotherLeftOutIsReportedAtTheSecondLook) {
  shm::CursorPage& first = attach(0);
  shm::CursorPage& second = attach(1);
  shm::write_left_out(first, {{0, 8}, {1, 0}});
  shm::write_next(first, 1, 0);
  shm::write_next(second, 0, 12);
  EXPECT_TRUE(look(1000 * kMs).empty());
  const auto notices = look(1010 * kMs);
  ASSERT_EQ(notices.size(), 2U);
  EXPECT_THAT(notices[0].status.message(),
              AllOf(HasSubstr("rank 1 is at epoch 0 row 12"), HasSubstr("rank 0 left out")));
  EXPECT_TRUE(look(1020 * kMs).empty()) << "not again at once";
  EXPECT_EQ(look(12'000 * kMs).size(), 2U);
  shm::write_next(second, 1, 0);
  EXPECT_TRUE(look(40'000 * kMs).empty());
}

}  // namespace
}  // namespace echoline::engine
