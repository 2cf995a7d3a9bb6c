// Keep-alives are sent while all loops make progress, and stop when one of them hangs.
#include "serve/process/watchdog.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/unique_fd.h"
#include "serve/scratch_folder.h"

namespace echoline::serve {
namespace {

using namespace std::chrono_literals;

class Watched : public ::testing::Test {
 protected:
  Watched() : supervisor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder_.file("notify");
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(
        ::bind(supervisor_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    ::setenv("WATCHDOG_USEC", "80000", 1);
  }
  ~Watched() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }

  // The next message; "" if none arrives in time.
  std::string heard(std::chrono::milliseconds patience) const {
    pollfd item{supervisor_.get(), POLLIN, 0};
    if (::poll(&item, 1, static_cast<int>(patience.count())) != 1) return "";
    char text[64];
    const ssize_t bytes = ::recv(supervisor_.get(), text, sizeof text, 0);
    return std::string(text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  }

  ScratchFolder folder_;
  UniqueFd supervisor_;
};

TEST_F(Watched, LivesWhileItsLoopsGoRoundAndNoLonger) {
  std::atomic<std::uint64_t> rounds = 0;
  std::atomic<bool> hangs = false;
  const Watchdog watchdog(
      {[&rounds] { return ++rounds; }, [&] { return hangs ? rounds.load() : ++rounds; },
       [own = std::uint64_t{0}, &hangs]() mutable { return hangs ? own : ++own; }});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(heard(10s), "WATCHDOG=1");
  hangs = true;
  // A check may have been running already.
  while (!heard(500ms).empty()) {
  }
  EXPECT_GT(rounds, 6U);
  EXPECT_EQ(heard(300ms), "");
}

TEST_F(Watched, SendsNothingWhereNoOrAnotherProcessIsWatched) {
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(watchdog_patience(), 0us);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(watchdog_patience(), 80ms);
  ::setenv("WATCHDOG_USEC", "soon", 1);
  EXPECT_EQ(watchdog_patience(), 0us);
}

}  // namespace
}  // namespace echoline::serve
