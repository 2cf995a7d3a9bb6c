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
#include "knocking.h"

namespace echoline::serve {
namespace {

class OpenDoor : public testing::Test {
 protected:
  void SetUp() override { door_ = std::move(Door::open(folder_.path(), engine_)).value(); }
  Knock knock() const { return Knock(folder_.path()); }

  SocketFolder folder_;
  RecordingEngine engine_;
  std::unique_ptr<Door> door_;
};

int open_descriptors() {
  int count = 0;
  for (int fd = 0; fd < 4096; ++fd) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

// Whether it comes true: the door's thread may be a moment behind what a trainer has seen.
template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 500 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

TEST_F(OpenDoor, ATrainerGetsItsReplyWithTwoDescriptorsOfItsOwn) {
  const Knock trainer = knock();
  ASSERT_TRUE(trainer.send(good_request()));
  const Knock::Heard heard = trainer.hear();
  const auto reply = heard.as<shm::AttachReply>();
  EXPECT_EQ(reply.magic, shm::kDoorMagic);
  EXPECT_EQ(reply.code, 0U) << reply.message;
  EXPECT_EQ(reply.batch_size, 256U);
  EXPECT_EQ(reply.first_sequence, 7U);
  ASSERT_EQ(heard.descriptors.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    struct stat got {};
    struct stat sent {};
    ASSERT_EQ(fstat(heard.descriptors[i].get(), &got), 0);
    ASSERT_EQ(stat(i == 0 ? "/dev/null" : "/dev/zero", &sent), 0);
    EXPECT_EQ(got.st_rdev, sent.st_rdev);
  }
  EXPECT_EQ(engine_.asked().at(0).peer.pid, getpid());
  EXPECT_EQ(engine_.asked().at(0).peer.uid, getuid());
  EXPECT_STREQ(engine_.asked().at(0).request.stream, "photos");
  EXPECT_EQ(door_->connection_count(), 1U);
}

TEST_F(OpenDoor, ASecondTrainerAtARankIsServedAndNamedInTheLog) {
  testing::internal::CaptureStderr();
  const Knock first = knock();
  ASSERT_TRUE(first.send(good_request()));
  EXPECT_EQ(first.hear().descriptors.size(), 2U);
  shm::AttachRequest neighbour = good_request();
  neighbour.rank = 1;
  neighbour.world_size = 2;
  const Knock other_rank = knock();
  ASSERT_TRUE(other_rank.send(neighbour));
  EXPECT_EQ(other_rank.hear().descriptors.size(), 2U);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");

  testing::internal::CaptureStderr();
  const Knock second = knock();
  ASSERT_TRUE(second.send(good_request()));
  EXPECT_EQ(second.hear().descriptors.size(), 2U);
  door_.reset();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("reads stream photos as job default rank 0, as process " +
                     std::to_string(getpid()) + " does already"),
            std::string::npos)
      << log;
}

TEST_F(OpenDoor, ARefusalOfTheEngineReachesTheTrainerAndIsNotWithdrawn) {
  engine_.on_attach = [](std::uint64_t, const engine::ReplyFunction& reply) {
    reply(Status(Code::kNotFound, "no stream 'photos'; there are: faces"));
  };
  const Knock trainer = knock();
  ASSERT_TRUE(trainer.send(good_request()));
  const Knock::Heard heard = trainer.hear();
  EXPECT_EQ(heard.as<shm::AttachReply>().code, static_cast<std::uint32_t>(Code::kNotFound));
  EXPECT_STREQ(heard.as<shm::AttachReply>().message, "no stream 'photos'; there are: faces");
  EXPECT_TRUE(heard.descriptors.empty());
  EXPECT_TRUE(trainer.hear().closed());
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
  const Knock trainer = knock();
  ASSERT_TRUE(trainer.send(good_request()));
  EXPECT_EQ(trainer.hear().descriptors.size(), 2U);
  later.join();
}

TEST_F(OpenDoor, AReplyAfterTheTrainersDeathGoesNowhereAndLeaksNothing) {
  engine::ReplyFunction late;
  engine_.on_attach = [&](std::uint64_t, engine::ReplyFunction reply) { late = std::move(reply); };
  Knock trainer = knock();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_TRUE(engine_.wait_asked(1));
  trainer.hang_up();
  ASSERT_TRUE(engine_.wait_withdrawn(1));
  const int before = open_descriptors();
  const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  late(engine::Attachment{{}, file.get(), file.get()});
  const Knock other = knock();  // served by the same thread, so the late reply has been dealt with
  engine_.on_attach = nullptr;
  ASSERT_TRUE(other.send(good_request()));
  EXPECT_EQ(other.hear().as<shm::AttachReply>().code, 0U);
  // The file, and both ends of the other connection.
  EXPECT_TRUE(soon([&] { return open_descriptors() == before + 3; }));
  EXPECT_EQ(engine_.withdrawn().size(), 1U);
}

TEST_F(OpenDoor, AReplyAfterTheDoorIsGoneGoesNowhere) {
  engine::ReplyFunction late;
  engine_.on_attach = [&](std::uint64_t, engine::ReplyFunction reply) { late = std::move(reply); };
  const Knock trainer = knock();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_TRUE(engine_.wait_asked(1));
  door_.reset();
  EXPECT_EQ(engine_.withdrawn(), std::vector<std::uint64_t>{engine_.asked()[0].connection});
  const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  late(engine::Attachment{{}, file.get(), file.get()});
  engine_.notify_(engine_.asked()[0].connection, shm::kNoticeFailed, Status(Code::kInternal, "x"));
  EXPECT_TRUE(trainer.hear().closed());
}

TEST_F(OpenDoor, AGrantWithoutDescriptorsIsAnErrorThatTheEngineIsToldTheEndOf) {
  engine_.on_attach = [](std::uint64_t, const engine::ReplyFunction& reply) {
    reply(engine::Attachment{});
  };
  const Knock trainer = knock();
  ASSERT_TRUE(trainer.send(good_request()));
  EXPECT_NE(trainer.hear().as<shm::AttachReply>().code, 0U);
  EXPECT_TRUE(engine_.wait_withdrawn(1));
}

TEST_F(OpenDoor, NoticesReachAnAttachedTrainer) {
  const Knock trainer = knock();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_EQ(trainer.hear().as<shm::AttachReply>().code, 0U);
  engine_.notify_(engine_.asked()[0].connection, shm::kNoticeDetached,
                  Status(Code::kFailedPrecondition, "fell 4096 rows behind"));
  const auto notice = trainer.hear().as<shm::Notice>();
  EXPECT_EQ(notice.magic, shm::kDoorMagic);
  EXPECT_EQ(notice.kind, shm::kNoticeDetached);
  EXPECT_STREQ(notice.message, "fell 4096 rows behind");
}

TEST_F(OpenDoor, ATrainerThatReadsNoNoticesHoldsNobodyUp) {
  const Knock deaf = knock();
  ASSERT_TRUE(deaf.send(good_request()));
  ASSERT_EQ(deaf.hear().as<shm::AttachReply>().code, 0U);
  for (int i = 0; i < 2000; ++i)
    engine_.notify_(engine_.asked()[0].connection, shm::kNoticeDraining,
                    Status(Code::kUnavailable, "soon"));
  const Knock other = knock();
  ASSERT_TRUE(other.send(good_request()));
  EXPECT_EQ(other.hear().as<shm::AttachReply>().code, 0U);
}

TEST_F(OpenDoor, ADrainsLastNoticeIsDeliveredBeforeTheDoorCloses) {
  const Knock trainer = knock();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_EQ(trainer.hear().as<shm::AttachReply>().code, 0U);
  engine_.notify_(engine_.asked()[0].connection, shm::kNoticeDraining,
                  Status(Code::kUnavailable, "going down"));
  door_.reset();
  EXPECT_EQ(trainer.hear().as<shm::Notice>().kind, shm::kNoticeDraining);
  EXPECT_TRUE(trainer.hear().closed());
  EXPECT_EQ(engine_.withdrawn().size(), 1U);
}

TEST_F(OpenDoor, GarbageIsAnsweredAndPutOut) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    const Knock hostile = knock();
    std::vector<unsigned char> bytes(1 + random() % 4000);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    ASSERT_TRUE(hostile.send(bytes.data(), bytes.size()));
    EXPECT_EQ(hostile.hear().as<shm::AttachReply>().code,
              static_cast<std::uint32_t>(Code::kInvalidArgument));
    EXPECT_TRUE(hostile.hear().closed());
  }
  EXPECT_TRUE(engine_.asked().empty());
  EXPECT_TRUE(soon([&] { return door_->connection_count() == 0; }));
}

TEST_F(OpenDoor, WhoSpeaksAfterAttachingIsDetached) {
  const Knock trainer = knock();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_EQ(trainer.hear().as<shm::AttachReply>().code, 0U);
  ASSERT_TRUE(trainer.send("x", 1));
  EXPECT_TRUE(engine_.wait_withdrawn(1));
  EXPECT_TRUE(trainer.hear().closed());
}

TEST_F(OpenDoor, DescriptorsThatAreSentAlongAreRefusedAndClosed) {
  const int before = open_descriptors();
  for (int round = 0; round < 20; ++round) {
    const Knock hostile = knock();
    ASSERT_TRUE(hostile.send_with_descriptors(good_request(), 50));
    const Knock::Heard heard = hostile.hear();
    EXPECT_EQ(heard.as<shm::AttachReply>().code,
              static_cast<std::uint32_t>(Code::kInvalidArgument));
  }
  EXPECT_TRUE(soon([&] { return open_descriptors() <= before; }));
  EXPECT_TRUE(engine_.asked().empty());
}

TEST_F(OpenDoor, WhoSaysNothingForFiveSecondsIsPutOut) {
  const Knock silent = knock();
  ASSERT_TRUE(silent.connected());
  const std::uint64_t start = monotonic_ns();
  const Knock::Heard heard = silent.hear(20000);
  EXPECT_EQ(heard.as<shm::AttachReply>().code, static_cast<std::uint32_t>(Code::kDeadlineExceeded));
  EXPECT_GE(monotonic_ns() - start, 4'900'000'000U);
  EXPECT_LT(monotonic_ns() - start, 10'000'000'000U);
  EXPECT_TRUE(silent.hear().closed());
}

// From SIGKILL of an attached trainer to the engine's being told.
std::uint64_t kill_one(const SocketFolder& folder, RecordingEngine& engine,
                       std::size_t withdrawn_before) {
  int ready[2];
  EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Knock trainer(folder.path());
    const bool attached =
        trainer.send(good_request()) && trainer.hear().as<shm::AttachReply>().code == 0;
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

TEST_F(OpenDoor, TwoThousandHalfHandshakesDoNotKeepAnHonestTrainerOut) {
  std::vector<Knock> flood;
  for (int i = 0; i < 2000; ++i) {
    flood.push_back(knock());
    ASSERT_TRUE(flood.back().connected());
  }
  const std::uint64_t start = monotonic_ns();
  const Knock honest = knock();
  ASSERT_TRUE(honest.send(good_request()));
  EXPECT_EQ(honest.hear().as<shm::AttachReply>().code, 0U);
  EXPECT_LT(monotonic_ns() - start, 2'000'000'000U);
  EXPECT_LE(door_->connection_count(), 257U);
}

TEST_F(OpenDoor, AUserHasABoundAndIsToldSo) {
  std::vector<Knock> trainers;
  for (int i = 0; i < 512; ++i) {
    trainers.push_back(knock());
    ASSERT_TRUE(trainers.back().send(good_request()));
    ASSERT_EQ(trainers.back().hear().as<shm::AttachReply>().code, 0U);
  }
  const Knock one_more = knock();
  ASSERT_TRUE(one_more.send(good_request()));
  const auto reply = one_more.hear().as<shm::AttachReply>();
  EXPECT_EQ(reply.code, static_cast<std::uint32_t>(Code::kResourceExhausted));
  EXPECT_NE(std::string(reply.message).find("512 trainers"), std::string::npos);
  trainers.pop_back();
  ASSERT_TRUE(engine_.wait_withdrawn(1));
  const Knock again = knock();
  ASSERT_TRUE(again.send(good_request()));
  EXPECT_EQ(again.hear().as<shm::AttachReply>().code, 0U);
}

std::uint64_t process_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

TEST_F(OpenDoor, WithoutDescriptorsLeftItWaitsAndDoesNotSpin) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UBSan itself needs descriptors (a pipe) to look at memory";
#endif
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  Knock trainer = knock();
  ASSERT_TRUE(trainer.send(good_request()));
  ASSERT_EQ(trainer.hear().as<shm::AttachReply>().code, 0U);
  UniqueFd free(open("/dev/null", O_RDONLY | O_CLOEXEC));
  // No number is left but the one that the next trainer's own socket takes.
  const rlimit none{static_cast<rlim_t>(free.get()) + 1, before.rlim_max};
  free.reset();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Knock waiting = knock();
  const bool sent = waiting.connected() && waiting.send(good_request());
  const std::uint64_t cpu = process_cpu_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const std::uint64_t used = process_cpu_ns() - cpu;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(sent);
  EXPECT_LT(used, 100'000'000U);
  EXPECT_EQ(waiting.hear().as<shm::AttachReply>().code, 0U);
}

TEST_F(OpenDoor, AThousandComingAndGoingLeaveNothingBehind) {
  const int before = open_descriptors();
  for (int i = 0; i < 1000; ++i) {
    const Knock trainer = knock();
    ASSERT_TRUE(trainer.send(good_request()));
    if (i % 2 == 0) (void)trainer.hear();
  }
  ASSERT_TRUE(engine_.wait_withdrawn(1000));
  EXPECT_TRUE(soon([&] { return door_->connection_count() == 0; }));
  EXPECT_TRUE(soon([&] { return open_descriptors() <= before; }));
}

}  // namespace
}  // namespace echoline::serve
