// Who owns the path: a door takes over the socket of a dead daemon, never that of a live one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

#include "serve/door/door.h"
#include "test_trainer.h"

namespace echoline::serve {
namespace {

TEST(DoorAddress, IsForUserAndGroupAloneAndIsRemovedAtTheEnd) {
  const SocketFolder folder;
  RecordingEngine engine;
  const mode_t before = umask(0);
  auto door = Door::open(folder.path(), engine);
  umask(before);
  ASSERT_TRUE(door.ok()) << door.status().message();
  struct stat status {};
  ASSERT_EQ(stat(folder.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0660U);
  door.value().reset();
  EXPECT_TRUE(folder.names().empty());
}

TEST(DoorAddress, OfALivingDaemonIsRefusedByName) {
  const SocketFolder folder;
  RecordingEngine engine;
  const auto first = Door::open(folder.path(), engine);
  ASSERT_TRUE(first.ok());
  RecordingEngine other;
  const auto second = Door::open(folder.path(), other);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::kAlreadyExists);
  EXPECT_NE(second.status().message().find("process " + std::to_string(getpid())),
            std::string::npos)
      << second.status().message();
  // The first one still serves.
  const TestTrainer trainer(folder.path());
  ASSERT_TRUE(trainer.send(good_request()));
  EXPECT_EQ(trainer.receive().as<shm::AttachReply>().code, 0U);
}

TEST(DoorAddress, OfAKilledDaemonIsTakenOver) {
  const SocketFolder folder;
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t daemon = fork();
  if (daemon == 0) {
    RecordingEngine engine;
    const auto door = Door::open(folder.path(), engine);
    (void)!write(ready[1], door.ok() ? "y" : "n", 1);
    while (true) pause();
  }
  char open = 'n';
  ASSERT_EQ(read(ready[0], &open, 1), 1);
  ASSERT_EQ(open, 'y');
  kill(daemon, SIGKILL);
  waitpid(daemon, nullptr, 0);
  EXPECT_EQ(folder.names().size(), 2U);
  RecordingEngine engine;
  const auto door = Door::open(folder.path(), engine);
  ASSERT_TRUE(door.ok()) << door.status().message();
  const TestTrainer trainer(folder.path());
  ASSERT_TRUE(trainer.send(good_request()));
  EXPECT_EQ(trainer.receive().as<shm::AttachReply>().code, 0U);
  close(ready[0]);
  close(ready[1]);
}

TEST(DoorAddress, OfAListenerThatHoldsNoLockIsNotTakenFromIt) {
  const SocketFolder folder;
  const UniqueFd stranger(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder.path();
  std::memcpy(address.sun_path, path.data(), path.size());
  ASSERT_EQ(bind(stranger.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(stranger.get(), 8), 0);
  RecordingEngine engine;
  EXPECT_EQ(Door::open(path, engine).status().code(), Code::kAlreadyExists);
}

TEST(DoorAddress, ThatIsAFileIsNeverRemoved) {
  const SocketFolder folder;
  std::ofstream(folder.path()) << "precious";
  RecordingEngine engine;
  const auto door = Door::open(folder.path(), engine);
  EXPECT_EQ(door.status().code(), Code::kAlreadyExists);
  std::string text;
  std::ifstream(folder.path()) >> text;
  EXPECT_EQ(text, "precious");
}

TEST(DoorAddress, ThatIsTooLongOrNowhereIsRefusedClearly) {
  const SocketFolder folder;
  RecordingEngine engine;
  const auto long_path = Door::open(folder.path(std::string(120, 'x')), engine);
  EXPECT_EQ(long_path.status().code(), Code::kInvalidArgument);
  EXPECT_NE(long_path.status().message().find("set daemon.runtime_dir to a shorter one"),
            std::string::npos);
  EXPECT_EQ(Door::open(folder.path("none/door.sock"), engine).status().code(), Code::kNotFound);
}

TEST(DoorAddress, OfManyDaemonsStartedAtOnceExactlyOneGetsIt) {
  for (int round = 0; round < 20; ++round) {
    const SocketFolder folder;
    std::atomic<int> winners = 0;
    std::atomic<int> losers = 0;
    std::vector<std::thread> starts;
    for (int i = 0; i < 8; ++i)
      starts.emplace_back([&] {
        RecordingEngine engine;
        const auto door = Door::open(folder.path(), engine);
        (door.ok() ? winners : losers)++;
        // The winner keeps it until all have tried.
        while (winners + losers < 8) std::this_thread::yield();
      });
    for (std::thread& start : starts) start.join();
    EXPECT_EQ(winners, 1);
    EXPECT_TRUE(folder.names().empty());
  }
}

}  // namespace
}  // namespace echoline::serve
