// A socket of the service manager: the door takes it over and never removes it, and the next daemon
// serves the connections that wait in its queue.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "serve/door/door.h"
#include "serve/door/door_inherited.h"
#include "test_trainer.h"

namespace echoline::serve {
namespace {

using ::testing::HasSubstr;

// A listener at descriptor 3, as a service manager passes it. The destructor restores descriptor 3.
class Inherited : public ::testing::Test {
 protected:
  void give(const std::string& path, int type = SOCK_SEQPACKET, const char* names = "door") {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    // Moved above 10, so that it is not at descriptor 3 by chance before the dup2.
    UniqueFd listener(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    listener.reset(::fcntl(listener.get(), F_DUPFD_CLOEXEC, 10));
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    ASSERT_EQ(::listen(listener.get(), 8), 0);
    if (!before_) before_.reset(::fcntl(3, F_DUPFD_CLOEXEC, 10));
    ASSERT_EQ(::dup2(listener.get(), 3), 3);
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("LISTEN_FDS", "1", 1);
    ::setenv("LISTEN_FDNAMES", names, 1);
  }
  ~Inherited() override {
    if (before_) {
      ::dup2(before_.get(), 3);
    } else {
      ::close(3);
    }
    for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  }

  SocketFolder folder_;
  RecordingEngine engine_;

 private:
  UniqueFd before_;
};

TEST_F(Inherited, IsTakenOverAndServesWhoCameBeforeTheDaemon) {
  give(folder_.path());
  const TestTrainer early(folder_.path());
  ASSERT_TRUE(early.send(good_request()));
  {
    auto door = Door::open(folder_.path(), engine_);
    ASSERT_TRUE(door.ok()) << door.status().message();
    EXPECT_EQ(early.receive().as<shm::AttachReply>().code, 0U);
  }
  EXPECT_THAT(folder_.names(), ::testing::ElementsAre("door.sock"));
}

TEST_F(Inherited, LeavesNewcomersToTheNextDaemonWhileItDrains) {
  give(folder_.path());
  auto first = Door::open(folder_.path(), engine_);
  ASSERT_TRUE(first.ok());
  (*first)->leave_newcomers_waiting();
  const TestTrainer newcomer(folder_.path());
  ASSERT_TRUE(newcomer.connected() && newcomer.send(good_request()));
  const std::uint64_t rounds = (*first)->rounds();
  while ((*first)->rounds() < rounds + 3) {
  }
  first.value().reset();
  EXPECT_TRUE(engine_.asked().empty());
  const auto second = Door::open(folder_.path(), engine_);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(newcomer.receive().as<shm::AttachReply>().code, 0U);
}

TEST_F(Inherited, ElsewhereThanTheRuntimeFolderOrOfAnotherKindIsRefused) {
  give(folder_.path("other.sock"));
  EXPECT_THAT(Door::open(folder_.path(), engine_).status().message(),
              HasSubstr("opened the door at '" + folder_.path("other.sock") + "'"));
  give(folder_.path(), SOCK_STREAM);
  EXPECT_THAT(Door::open(folder_.path(), engine_).status().message(),
              HasSubstr("ListenSequentialPacket="));
}

TEST_F(Inherited, OfAnotherNameOrProcessIsNone) {
  give(folder_.path(), SOCK_SEQPACKET, "metrics");
  EXPECT_FALSE(door_is_inherited());
  ::setenv("LISTEN_FDNAMES", "metrics:door", 1);
  EXPECT_FALSE(door_is_inherited()) << "there is only one";
  ::setenv("LISTEN_FDNAMES", "", 1);
  EXPECT_TRUE(door_is_inherited());
  ::setenv("LISTEN_PID", "1", 1);
  EXPECT_FALSE(door_is_inherited());
}

}  // namespace
}  // namespace echoline::serve
