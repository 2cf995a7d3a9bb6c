// Signal handlers that run during a wait: the wait continues.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "client/checked_batch.h"
#include "client/server_process.h"

namespace echoline::test {
namespace {

using std::chrono::milliseconds;

volatile sig_atomic_t handled = 0;

// While it exists, a signal handler interrupts this process every 2 ms; system calls are not
// restarted.
class Interruptions {
 public:
  Interruptions() {
    handled = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { handled = handled + 1; };
    sigaction(SIGALRM, &action, &before_);
    const itimerval every = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &every, nullptr);
  }
  ~Interruptions() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
};

// Uses a child instead of a thread: this process keeps one thread, which receives all signals.
void after(milliseconds time, pid_t pid, int signal) {
  if (fork() != 0) return;
  std::this_thread::sleep_for(time);
  kill(pid, signal);
  _exit(0);
}

TEST(Signals, AWaitForABatchContinues) {
  ServerProcess server({"rows=400"});
  Loader loader("train", {.runtime_dir = server.dir()});
  for (int i = 0; i < 10; ++i) loader.next();
  kill(server.pid(), SIGSTOP);
  Batch batch;
  while (loader.next_within(milliseconds(0), batch) == ECHOLINE_OK) batch.release();
  const std::uint64_t next_row = loader.info().row;
  after(milliseconds(300), server.pid(), SIGCONT);
  const Interruptions interruptions;
  EXPECT_EQ(checked_rows(*loader.next()).front(), next_row);
  EXPECT_GT(handled, 3);
}

TEST(Signals, ATimeoutIsExact) {
  ServerProcess server({"batches_max=0"});
  Loader loader("train", {.runtime_dir = server.dir()});
  const Interruptions interruptions;
  const auto start = std::chrono::steady_clock::now();
  Batch batch;
  EXPECT_EQ(loader.next_within(milliseconds(300), batch), ECHOLINE_TIMEOUT);
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(300));
  EXPECT_GT(handled, 3);
}

TEST(Signals, AWaitForTheAttachmentContinues) {
  ServerProcess server;
  kill(server.pid(), SIGSTOP);
  after(milliseconds(300), server.pid(), SIGCONT);
  const Interruptions interruptions;
  Loader loader("train", {.runtime_dir = server.dir()});
  EXPECT_EQ(checked_rows(*loader.next()).front(), 0U);
  EXPECT_GT(handled, 3);
}

}  // namespace
}  // namespace echoline::test
