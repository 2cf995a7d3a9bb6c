// Forks while other threads attach and detach: a child must not inherit sockets or memory.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "client/checked_batch.h"
#include "client/server_process.h"

namespace echoline::test {
namespace {

// The kind of file descriptor that a child has inherited; 0: none. A socket (1) would keep the
// parent attached after its death; a memfd (2) would keep the memory of the ring.
// Async-signal-safe.
int inherited() {
  for (int fd = 3; fd < 256; ++fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0) continue;
    if (S_ISSOCK(status.st_mode)) return 1;
    char path[32];
    char target[64] = "";
    std::snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (readlink(path, target, sizeof(target) - 1) > 0 && std::strncmp(target, "/memfd:", 7) == 0) {
      return 2;
    }
  }
  return 0;
}

TEST(Fork, AChildInheritsNothingWhileThreadsAttachAndDetach) {
  ServerProcess server({"batches_max=0"});
  std::atomic<bool> stop = false;
  std::atomic<int> attached = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      while (!stop) {
        Loader loader("train", {.job = "job" + std::to_string(t), .runtime_dir = server.dir()});
        ++attached;
      }
    });
  }
  int codes[3] = {};
  int died = 0;
  for (int i = 0; i < 1000; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(inherited());
    int status = 0;
    waitpid(pid, &status, 0);
    WIFEXITED(status) ? ++codes[WEXITSTATUS(status)] : ++died;
  }
  stop = true;
  threads.clear();
  EXPECT_GT(attached, 100);
  EXPECT_EQ(died, 0);
  EXPECT_EQ(codes[1], 0) << "children with a socket";
  EXPECT_EQ(codes[2], 0) << "children with the ring's memory";
}

TEST(Fork, AChildCanAttachWhileAThreadOfTheParentAttaches) {
  // The first batch stays in the ring until both have attached.
  ServerProcess server({"rows=4000", "consumers=2"});
  kill(server.pid(), SIGSTOP);  // the request stays unanswered
  std::uint64_t first_row = 1;
  std::jthread attaching([&] {
    Loader loader("train", {.runtime_dir = server.dir()});
    first_row = checked_rows(*loader.next()).front();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const pid_t child = fork();
  if (child == 0) {
    if (inherited() != 0) _exit(3);
    Loader loader("train", {.job = "child", .runtime_dir = server.dir()});
    _exit(checked_rows(*loader.next()).front() == 0 ? 0 : 4);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  kill(server.pid(), SIGCONT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  attaching.join();
  EXPECT_EQ(first_row, 0U);
}

}  // namespace
}  // namespace echoline::test
