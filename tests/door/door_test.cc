#include "serve/door/door.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>

#include "base/clock.h"
#include "test_trainer.h"

namespace echoline::serve {
namespace {

class OpenDoor : public testing::Test {
 protected:
  void SetUp() override { door_ = std::move(Door::open(folder_.path(), engine_)).value(); }
  TestTrainer connect() const { return TestTrainer(folder_.path()); }

  SocketFolder folder_;
  RecordingEngine engine_;
  std::unique_ptr<Door> door_;
};

int open_descriptors() {
  int count = 0;
  for (int fd = 0; fd < 4096; ++fd) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

// Whether the condition becomes true within 5 s: the door's thread can be behind the trainer.
template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 500 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

TEST_F(OpenDoor, ATrainerGetsItsReplyWithTwoDescriptorsOfItsOwn) {
  const TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  const TestTrainer::Received received = trainer.receive();
  const auto reply = received.as<shm::AttachReply>();
  EXPECT_EQ(reply.magic, shm::kDoorMagic);
  EXPECT_EQ(reply.code, 0U) << reply.message;
  EXPECT_EQ(reply.batch_size, 256U);
  EXPECT_EQ(reply.first_sequence, 7U);
  ASSERT_EQ(received.descriptors.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    struct stat got {};
    struct stat sent {};
    ASSERT_EQ(fstat(received.descriptors[i].get(), &got), 0);
    ASSERT_EQ(stat(i == 0 ? "/dev/null" : "/dev/zero", &sent), 0);
    EXPECT_EQ(got.st_rdev, sent.st_rdev);
  }
  EXPECT_EQ(engine_.asked().at(0).peer.pid, getpid());
  EXPECT_EQ(engine_.asked().at(0).peer.uid, getuid());
  EXPECT_STREQ(engine_.asked().at(0).request.stream, "photos");
  EXPECT_EQ(door_->connection_count(), 1U);
}

TEST_F(OpenDoor, ASecondTrainerAtARankIsServedAndTold) {
  testing::internal::CaptureStderr();
  const TestTrainer first = connect();
  ASSERT_TRUE(first.send(good_request()));
  EXPECT_EQ(first.receive().descriptors.size(), 2U);
  shm::AttachRequest neighbour = good_request();
  neighbour.rank = 1;
  neighbour.world_size = 2;
  const TestTrainer other_rank = connect();
  ASSERT_TRUE(other_rank.send(neighbour));
  EXPECT_EQ(other_rank.receive().descriptors.size(), 2U);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");

  testing::internal::CaptureStderr();
  const TestTrainer second = connect();
  ASSERT_TRUE(second.send(good_request()));
  EXPECT_EQ(second.receive().descriptors.size(), 2U);
  const std::string text = "reads stream photos as job default rank 0, as process " +
                           std::to_string(getpid()) + " does already";
  const auto notice = second.receive().as<shm::Notice>();
  EXPECT_EQ(notice.kind, shm::kNoticeText);
  EXPECT_NE(shm::text(notice.message).find(text), std::string::npos);
  door_.reset();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find(text), std::string::npos) << log;
}

TEST_F(OpenDoor, ARefusalOfTheEngineReachesTheTrainerAndIsNotWithdrawn) {
  engine_.on_attach = [](std::uint64_t, const engine::ReplyFunction& reply) {
    reply(Status(Code::kNotFound, "no stream 'photos'; there are: faces"));
  };
  const TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  const TestTrainer::Received received = trainer.receive();
  EXPECT_EQ(received.as<shm::AttachReply>().code, static_cast<std::uint32_t>(Code::kNotFound));
  EXPECT_STREQ(received.as<shm::AttachReply>().message, "no stream 'photos'; there are: faces");
  EXPECT_TRUE(received.descriptors.empty());
  EXPECT_TRUE(trainer.receive().closed());
  door_.reset();
  EXPECT_TRUE(engine_.withdrawn().empty());
}

TEST_F(OpenDoor, AReplyMayComeLaterFromAnotherThread) {
  std::thread later;
  engine_.on_attach = [&](std::uint64_t, engine::ReplyFunction reply) {
    later = std::thread([reply = std::move(reply)] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
      reply(engine::Attachment{{}, file.get(), file.get()});
    });
  };
  const TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  EXPECT_EQ(trainer.receive().descriptors.size(), 2U);
  later.join();
}

TEST_F(OpenDoor, AReplyAfterTheTrainersDeathGoesNowhereAndLeaksNothing) {
  engine::ReplyFunction late;
  engine_.on_attach = [&](std::uint64_t, engine::ReplyFunction reply) { late = std::move(reply); };
  TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_TRUE(engine_.wait_asked(1));
  trainer.disconnect();
  ASSERT_TRUE(engine_.wait_withdrawn(1));
  const int before = open_descriptors();
  const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  late(engine::Attachment{{}, file.get(), file.get()});
  // The same thread serves this one, so the late reply has been handled when it is attached.
  const TestTrainer other = connect();
  engine_.on_attach = nullptr;
  ASSERT_TRUE(other.send(good_request()));
  EXPECT_EQ(other.receive().as<shm::AttachReply>().code, 0U);
  // Three more: the file, and both ends of the other connection.
  EXPECT_TRUE(soon([&] { return open_descriptors() == before + 3; }));
  EXPECT_EQ(engine_.withdrawn().size(), 1U);
}

TEST_F(OpenDoor, AReplyAfterTheDoorIsGoneGoesNowhere) {
  engine::ReplyFunction late;
  engine_.on_attach = [&](std::uint64_t, engine::ReplyFunction reply) { late = std::move(reply); };
  const TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_TRUE(engine_.wait_asked(1));
  door_.reset();
  EXPECT_EQ(engine_.withdrawn(), std::vector<std::uint64_t>{engine_.asked()[0].connection});
  const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  late(engine::Attachment{{}, file.get(), file.get()});
  engine_.notify_(engine_.asked()[0].connection, shm::kNoticeFailed, Status(Code::kInternal, "x"));
  EXPECT_TRUE(trainer.receive().closed());
}

TEST_F(OpenDoor, AGrantThatCannotBeSentIsWithdrawnFromTheEngine) {
  engine_.on_attach = [](std::uint64_t, const engine::ReplyFunction& reply) {
    reply(engine::Attachment{});
  };
  const TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  EXPECT_NE(trainer.receive().as<shm::AttachReply>().code, 0U);
  EXPECT_TRUE(engine_.wait_withdrawn(1));
}

TEST_F(OpenDoor, NoticesReachAnAttachedTrainer) {
  const TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_EQ(trainer.receive().as<shm::AttachReply>().code, 0U);
  engine_.notify_(engine_.asked()[0].connection, shm::kNoticeDetached,
                  Status(Code::kFailedPrecondition, "fell 4096 rows behind"));
  const auto notice = trainer.receive().as<shm::Notice>();
  EXPECT_EQ(notice.magic, shm::kDoorMagic);
  EXPECT_EQ(notice.kind, shm::kNoticeDetached);
  EXPECT_STREQ(notice.message, "fell 4096 rows behind");
}

TEST_F(OpenDoor, ATrainerThatReadsNoNoticesBlocksNoOther) {
  const TestTrainer silent = connect();
  ASSERT_TRUE(silent.send(good_request()));
  ASSERT_EQ(silent.receive().as<shm::AttachReply>().code, 0U);
  for (int i = 0; i < 2000; ++i)
    engine_.notify_(engine_.asked()[0].connection, shm::kNoticeDraining,
                    Status(Code::kUnavailable, "soon"));
  const TestTrainer other = connect();
  ASSERT_TRUE(other.send(good_request()));
  EXPECT_EQ(other.receive().as<shm::AttachReply>().code, 0U);
}

TEST_F(OpenDoor, ADrainsLastNoticeIsDeliveredBeforeTheDoorCloses) {
  const TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_EQ(trainer.receive().as<shm::AttachReply>().code, 0U);
  engine_.notify_(engine_.asked()[0].connection, shm::kNoticeDraining,
                  Status(Code::kUnavailable, "going down"));
  door_.reset();
  EXPECT_EQ(trainer.receive().as<shm::Notice>().kind, shm::kNoticeDraining);
  EXPECT_TRUE(trainer.receive().closed());
  EXPECT_EQ(engine_.withdrawn().size(), 1U);
}

TEST_F(OpenDoor, GarbageIsAnsweredAndDisconnected) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    const TestTrainer hostile = connect();
    std::vector<unsigned char> bytes(1 + random() % 4000);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    ASSERT_TRUE(hostile.send(bytes.data(), bytes.size()));
    EXPECT_EQ(hostile.receive().as<shm::AttachReply>().code,
              static_cast<std::uint32_t>(Code::kInvalidArgument));
    EXPECT_TRUE(hostile.receive().closed());
  }
  EXPECT_TRUE(engine_.asked().empty());
  EXPECT_TRUE(soon([&] { return door_->connection_count() == 0; }));
}

TEST_F(OpenDoor, AMessageAfterAttachingDetachesTheTrainer) {
  const TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_EQ(trainer.receive().as<shm::AttachReply>().code, 0U);
  ASSERT_TRUE(trainer.send("x", 1));
  EXPECT_TRUE(engine_.wait_withdrawn(1));
  EXPECT_TRUE(trainer.receive().closed());
}

TEST_F(OpenDoor, DescriptorsInARequestAreRefusedAndClosed) {
  const int before = open_descriptors();
  for (int round = 0; round < 20; ++round) {
    const TestTrainer hostile = connect();
    ASSERT_TRUE(hostile.send_with_descriptors(good_request(), 50));
    const TestTrainer::Received received = hostile.receive();
    EXPECT_EQ(received.as<shm::AttachReply>().code,
              static_cast<std::uint32_t>(Code::kInvalidArgument));
  }
  EXPECT_TRUE(soon([&] { return open_descriptors() <= before; }));
  EXPECT_TRUE(engine_.asked().empty());
}

TEST_F(OpenDoor, ATrainerWithoutARequestIsRefusedAfterFiveSeconds) {
  const TestTrainer silent = connect();
  ASSERT_TRUE(silent.connected());
  const std::uint64_t start = monotonic_ns();
  const TestTrainer::Received received = silent.receive(20000);
  EXPECT_EQ(received.as<shm::AttachReply>().code,
            static_cast<std::uint32_t>(Code::kDeadlineExceeded));
  EXPECT_GE(monotonic_ns() - start, 4'900'000'000U);
  EXPECT_LT(monotonic_ns() - start, 10'000'000'000U);
  EXPECT_TRUE(silent.receive().closed());
}

// The time from SIGKILL of an attached trainer to its withdrawal from the engine.
std::uint64_t kill_one(const SocketFolder& folder, RecordingEngine& engine,
                       std::size_t withdrawn_before) {
  int ready[2];
  EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    const TestTrainer trainer(folder.path());
    const bool attached =
        trainer.send(good_request()) && trainer.receive().as<shm::AttachReply>().code == 0;
    (void)!write(ready[1], attached ? "y" : "n", 1);
    while (true) pause();
  }
  char attached = 'n';
  EXPECT_EQ(read(ready[0], &attached, 1), 1);
  EXPECT_EQ(attached, 'y');
  EXPECT_EQ(engine.asked().back().peer.pid, child);
  const std::uint64_t killed = monotonic_ns();
  kill(child, SIGKILL);
  EXPECT_TRUE(engine.wait_withdrawn(withdrawn_before + 1));
  const std::uint64_t took = monotonic_ns() - killed;
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  return took;
}

TEST_F(OpenDoor, ATrainerKilledIsWithdrawnWithinAHundredMilliseconds) {
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t round = 0; round < 5; ++round)
    least = std::min(least, kill_one(folder_, engine_, round));
  EXPECT_LT(least, 100'000'000U);
}

TEST_F(OpenDoor, AFlushWithdrawsEveryTrainerThatHasClosed) {
  for (int round = 1; round <= 3; ++round) {
    std::vector<TestTrainer> trainers;
    for (int i = 0; i < 200; ++i) {
      trainers.push_back(connect());
      ASSERT_TRUE(trainers.back().send(good_request()));
      ASSERT_EQ(trainers.back().receive().as<shm::AttachReply>().code, 0U);
    }
    trainers.clear();
    door_->flush();
    EXPECT_EQ(engine_.withdrawn().size(), 200U * static_cast<std::size_t>(round));
  }
}

TEST_F(OpenDoor, TwoThousandSilentConnectionsDoNotKeepATrainerOut) {
  std::vector<TestTrainer> flood;
  for (int i = 0; i < 2000; ++i) {
    flood.push_back(connect());
    ASSERT_TRUE(flood.back().connected());
  }
  const std::uint64_t start = monotonic_ns();
  const TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  EXPECT_EQ(trainer.receive().as<shm::AttachReply>().code, 0U);
  EXPECT_LT(monotonic_ns() - start, 2'000'000'000U);
  EXPECT_LE(door_->connection_count(), 257U);
}

TEST_F(OpenDoor, AUserHasALimitAndTheRefusalNamesIt) {
  std::vector<TestTrainer> trainers;
  for (int i = 0; i < 512; ++i) {
    trainers.push_back(connect());
    ASSERT_TRUE(trainers.back().send(good_request()));
    ASSERT_EQ(trainers.back().receive().as<shm::AttachReply>().code, 0U);
  }
  const TestTrainer one_more = connect();
  ASSERT_TRUE(one_more.send(good_request()));
  const auto reply = one_more.receive().as<shm::AttachReply>();
  EXPECT_EQ(reply.code, static_cast<std::uint32_t>(Code::kResourceExhausted));
  EXPECT_NE(std::string(reply.message).find("512 trainers"), std::string::npos);
  trainers.pop_back();
  ASSERT_TRUE(engine_.wait_withdrawn(1));
  const TestTrainer again = connect();
  ASSERT_TRUE(again.send(good_request()));
  EXPECT_EQ(again.receive().as<shm::AttachReply>().code, 0U);
}

constexpr double kIdleShare = 0.1;

std::uint64_t process_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

TEST_F(OpenDoor, WithoutDescriptorsLeftItWaitsAndDoesNotSpin) {
#ifdef ECHOLINE_SANITIZE_ADDRESS
  GTEST_SKIP() << "UBSan itself needs descriptors (a pipe) to look at memory";
#endif
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  TestTrainer trainer = connect();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_EQ(trainer.receive().as<shm::AttachReply>().code, 0U);
  UniqueFd free(open("/dev/null", O_RDONLY | O_CLOEXEC));
  // Leaves one free descriptor, which the next trainer's own socket takes.
  const rlimit none{static_cast<rlim_t>(free.get()) + 1, before.rlim_max};
  free.reset();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const TestTrainer waiting = connect();
  const bool sent = waiting.connected() && waiting.send(good_request());
  // A share, because a busy machine wakes this thread late; and the least of several tries, because
  // other threads of this process may have work to finish. A loop that spins takes a large share of
  // each.
  double least = 1;
  for (int i = 0; i < 5 && least >= kIdleShare; ++i) {
    const std::uint64_t cpu = process_cpu_ns(), begin = monotonic_ns();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    least = std::min(least, static_cast<double>(process_cpu_ns() - cpu) /
                                static_cast<double>(monotonic_ns() - begin));
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(sent);
  EXPECT_LT(least, kIdleShare);
  EXPECT_EQ(waiting.receive().as<shm::AttachReply>().code, 0U);
}

TEST_F(OpenDoor, AThousandComingAndGoingLeaveNothingBehind) {
  const int before = open_descriptors();
  for (int i = 0; i < 1000; ++i) {
    const TestTrainer trainer = connect();
    ASSERT_TRUE(trainer.send(good_request()));
    if (i % 2 == 0) (void)trainer.receive();
  }
  ASSERT_TRUE(engine_.wait_withdrawn(1000));
  EXPECT_TRUE(soon([&] { return door_->connection_count() == 0; }));
  EXPECT_TRUE(soon([&] { return open_descriptors() <= before; }));
}

}  // namespace
}  // namespace echoline::serve
