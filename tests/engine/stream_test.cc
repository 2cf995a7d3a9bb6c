// A stream without its driver: who gets which pass, when passes end, and what trainers are counted
// for. Times are the test's own.
#include "engine/stream/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <numeric>

#include "echoline/shm/cursor_steps.h"
#include "engine/small_stream.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

const Result<Attachment> kNoAnswer(Status(Code::kInternal, "no answer yet"));

class StreamTest : public testing::Test {
 protected:
  ~StreamTest() override {
    if (page_ != nullptr) ::munmap(page_, shm::kPageBytes);
  }

  // Starts at this row of epoch 0; the position of the answer, or its error.
  Result<Attachment> attach(std::uint64_t connection, const std::string& job, std::uint64_t row,
                            std::uint64_t now_ns, std::uint32_t reattaching = 0) {
    Result<Attachment> answer = kNoAnswer;
    AttachCall call = attach_call(connection, job, &answer);
    call.request.join = shm::kJoinPosition;
    call.request.row = row;
    call.request.reattaching = reattaching;
    stream_->attach(std::move(call), now_ns);
    small_.do_work(*stream_, now_ns);
    if (answer.ok()) {
      if (page_ != nullptr) ::munmap(page_, shm::kPageBytes);
      page_ = static_cast<shm::CursorPage*>(::mmap(nullptr, shm::kPageBytes, PROT_READ | PROT_WRITE,
                                                   MAP_SHARED, answer->cursor_fd, 0));
    }
    return answer;
  }
  void tick(std::uint64_t now_ns) {
    stream_->tick(now_ns);
    small_.do_work(*stream_, now_ns);
  }
  void withdraw(std::uint64_t connection, std::uint64_t now_ns) {
    EXPECT_TRUE(stream_->withdraw(connection, now_ns));
    small_.do_work(*stream_, now_ns);
  }
  ConsumerStats trainer(const std::string& job, std::uint64_t now_ns) {
    for (const ConsumerStats& trainer : stream_->stats(now_ns).consumers) {
      if (trainer.job == job) return trainer;
    }
    return {};
  }
  static std::uint64_t sum(const ConsumerStats& trainer) {
    return std::accumulate(trainer.wait_ns.begin(), trainer.wait_ns.end(), std::uint64_t{0});
  }

  SmallStream small_;
  std::unique_ptr<Stream> stream_ = small_.stream();
  shm::CursorPage* page_ = nullptr;  // of the trainer that attached last
};

TEST_F(StreamTest, JobsNearEachOtherShareAPassAndOthersGetOneOfTheirOwn) {
  ASSERT_TRUE(attach(1, "a", 0, kSecond).ok());
  ASSERT_TRUE(attach(2, "b", 4, kSecond).ok());
  EXPECT_EQ(stream_->passes().size(), 1U);
  const Result<Attachment> third = attach(3, "c", 36, kSecond);
  ASSERT_TRUE(third.ok()) << third.status().message();
  EXPECT_EQ(third->reply.row, 36U);
  EXPECT_EQ(stream_->passes().size(), 2U);
}

TEST_F(StreamTest, TrainersAreAnsweredInTheirOrderWhileAPassIsUnderConstruction) {
  ASSERT_TRUE(attach(9, "reader", 0, kSecond).ok());
  Result<Attachment> first = kNoAnswer, second = kNoAnswer, gone = kNoAnswer;
  for (auto [connection, answer] : {std::pair{1, &first}, {2, &second}, {3, &gone}}) {
    AttachCall call = attach_call(static_cast<std::uint64_t>(connection), "far", answer);
    call.request.join = shm::kJoinPosition;
    call.request.row = 36;
    stream_->attach(std::move(call), kSecond);
  }
  EXPECT_EQ(first.status().message(), kNoAnswer.status().message());
  EXPECT_TRUE(stream_->withdraw(3, kSecond));
  small_.do_work(*stream_, kSecond);
  EXPECT_TRUE(first.ok()) << first.status().message();
  EXPECT_TRUE(second.ok());
  EXPECT_EQ(gone.status().message(), kNoAnswer.status().message());
  EXPECT_EQ(stream_->passes().size(), 2U) << "both read one pass";
}

TEST_F(StreamTest, APassWhoseTrainerHasGoneMeanwhileIsNotKept) {
  ASSERT_TRUE(attach(9, "reader", 0, kSecond).ok());
  Result<Attachment> answer = kNoAnswer;
  AttachCall call = attach_call(1, "far", &answer);
  call.request.join = shm::kJoinPosition;
  call.request.row = 36;
  stream_->attach(std::move(call), kSecond);
  EXPECT_TRUE(stream_->withdraw(1, kSecond));
  const std::uint64_t before = small_.budget.reserved_bytes();
  small_.do_work(*stream_, kSecond);
  EXPECT_EQ(stream_->passes().size(), 1U);
  EXPECT_EQ(small_.budget.reserved_bytes(), before);
}

TEST_F(StreamTest, AFailureWhileAPassIsUnderConstructionIsTheAnswer) {
  ASSERT_TRUE(attach(9, "reader", 0, kSecond).ok());
  Result<Attachment> answer = kNoAnswer;
  AttachCall call = attach_call(1, "far", &answer);
  call.request.join = shm::kJoinPosition;
  call.request.row = 36;
  stream_->attach(std::move(call), kSecond);
  stream_->set_failed(Status(Code::kDataLoss, "broken"), kSecond);
  EXPECT_EQ(answer.status().message(), "broken");
  small_.do_work(*stream_, kSecond);
  EXPECT_EQ(stream_->passes().size(), 1U);
}

TEST_F(StreamTest, PassesThatNobodyReadsEndWithinSecondsExceptTheLastOne) {
  for (std::uint64_t job = 0; job < 3; ++job) {
    ASSERT_TRUE(
        attach(job + 1, "job" + std::to_string(job), 16 * job + 4 * (job == 2), kSecond).ok());
  }
  const std::size_t passes = stream_->passes().size();
  ASSERT_GT(passes, 1U);
  const std::uint64_t of_all = small_.budget.reserved_bytes();
  tick(5 * kSecond);
  for (std::uint64_t job = 0; job < 3; ++job) withdraw(job + 1, 5 * kSecond);
  tick(6 * kSecond);
  EXPECT_EQ(stream_->passes().size(), passes) << "a trainer may come back at once";
  tick(8 * kSecond);
  EXPECT_EQ(stream_->passes().size(), 1U);
  EXPECT_EQ(small_.budget.reserved_bytes(), of_all / passes);
}

TEST_F(StreamTest, TheIdlePassIsGivenUpWhenItsMemoryIsNeeded) {
  EXPECT_NE(stream_->give_up_idle_pass(), nullptr);
  EXPECT_EQ(stream_->give_up_idle_pass(), nullptr);
}

TEST_F(StreamTest, APassThatIsReadIsNotGivenUp) {
  ASSERT_TRUE(attach(1, "a", 0, kSecond).ok());
  EXPECT_EQ(stream_->give_up_idle_pass(), nullptr);
}

TEST_F(StreamTest, WaitsForADaemonThatWasAwayAreChargedToIt) {
  ASSERT_TRUE(attach(1, "a", 0, 10 * kSecond, /*reattaching=*/1).ok());
  tick(10 * kSecond + 10'000'000);
  shm::add_wait(*page_, 3'600'000'000);  // the trainer's own measure, while it was not attached
  tick(10 * kSecond + 20'000'000);
  const ConsumerStats counted = trainer("a", 11 * kSecond);
  EXPECT_EQ(sum(counted), 3'600'000'000U);
  EXPECT_GE(counted.wait_ns[static_cast<std::size_t>(WaitCause::kDaemon)], 3'590'000'000U);
  EXPECT_GE(stream_->stats(11 * kSecond).recent.wait_ns[4], 3'590'000'000U);
}

TEST_F(StreamTest, CountersContinueWhenATrainerAttachesAgain) {
  ASSERT_TRUE(attach(1, "a", 0, kSecond).ok());
  shm::begin_wait(*page_, kSecond);
  shm::write_batches(*page_, 7);
  tick(kSecond + 500'000'000);
  tick(2 * kSecond);
  withdraw(1, 2 * kSecond + 200'000'000);
  EXPECT_EQ(trainer("a", 3 * kSecond).batches, 0U) << "its series vanish";
  ASSERT_TRUE(attach(2, "a", 4, 3 * kSecond).ok());
  const ConsumerStats again = trainer("a", 3 * kSecond);
  EXPECT_EQ(again.batches, 7U);
  EXPECT_EQ(sum(again), 1'200'000'000U) << "with what it waited until it was gone";
}

}  // namespace
}  // namespace echoline::engine
