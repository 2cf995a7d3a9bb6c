// Leases, the death of daemon or trainer, forks, threads, timeouts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "client/checked_batch.h"
#include "client/server_process.h"

namespace echoline::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TEST(Life, ATrainerThatKeepsAllBatchesGetsLeaseHeldAtOnceAndContinuesAfterARelease) {
  ServerProcess server({"slots=4", "rows=400"});
  Loader loader("train", {.runtime_dir = server.dir()});
  std::vector<Batch> kept;
  for (int i = 0; i < 4; ++i) kept.push_back(*loader.next());
  const auto start = Clock::now();
  try {
    loader.next();
    FAIL() << "no lease was missing";
  } catch (const LeaseHeld& error) {
    EXPECT_THAT(error.what(), HasSubstr("publish.slots"));
  }
  EXPECT_LT(seconds_since(start), 0.5);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(checked_rows(kept[i]), rows_between(i * 4, i * 4 + 4));
  }
  kept.erase(kept.begin());
  EXPECT_EQ(checked_rows(*loader.next()), rows_between(16, 20));
}

TEST(Life, ASlotIsReusedOnlyWhenAllBeforeItAreReleased) {
  ServerProcess server({"slots=4", "rows=400"});
  Loader loader("train", {.runtime_dir = server.dir()});
  Batch first = *loader.next();
  for (int i = 0; i < 3; ++i) loader.next();
  EXPECT_THROW(loader.next(), LeaseHeld);
  EXPECT_EQ(checked_rows(first), rows_between(0, 4));
  first.release();
  EXPECT_EQ(checked_rows(*loader.next()), rows_between(16, 20));
}

TEST(Life, ABatchOutlivesItsLoaderAndTheDaemon) {
  ServerProcess server;
  Batch kept;
  {
    Loader loader("train", {.runtime_dir = server.dir()});
    kept = *loader.next();
  }
  server.kill();
  EXPECT_EQ(checked_rows(kept), rows_between(0, 4));
}

TEST(Life, ABatchOfADetachedLoaderStaysValidWhileTheRingContinues) {
  ServerProcess server({"slots=4", "rows=400"});
  Loader other("train", {.job = "other", .runtime_dir = server.dir()});
  Batch kept;
  {
    Loader loader("train", {.runtime_dir = server.dir()});
    kept = *loader.next();
  }
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(checked_rows(*other.next()), rows_between(i * 4, i * 4 + 4));
  }
  EXPECT_EQ(checked_rows(kept), rows_between(0, 4));
}

TEST(Life, RaggedRowsOfADetachedLoaderStayTooAndThoseOfTheNextOneAreItsOwn) {
  ServerProcess server({"slots=4", "rows=400", "ragged=1"});
  Loader other("train", {.job = "other", .runtime_dir = server.dir()});
  Loader loader("train", {.runtime_dir = server.dir()});
  Batch first = *loader.next(), second = *loader.next();
  first.release();
  loader.close();
  // So that its slot gets rows of other lengths.
  for (std::uint64_t i = 0; i < 17; ++i) {
    EXPECT_EQ(checked_rows(*other.next()), rows_between(i * 4, i * 4 + 4));
  }
  EXPECT_EQ(checked_rows(second), rows_between(4, 8));
  const auto tokens = second.ragged<std::int32_t>("tokens");
  for (std::uint32_t row = 0; row < 4; ++row) {
    ASSERT_EQ(tokens[row].size(), made_token_count(row + 4));
    for (std::uint32_t at = 0; at < tokens[row].size(); ++at) {
      EXPECT_EQ(tokens[row][at], made_token(row + 4, at));
    }
  }
}

TEST(Life, WithoutReattachTheDaemonsDeathIsAnErrorWithinASecond) {
  ServerProcess server({"batches_max=2"});
  Loader loader("train", {.reattach = milliseconds(0), .runtime_dir = server.dir()});
  loader.next();
  loader.next();
  Clock::time_point killed;
  std::thread killer([&] {
    std::this_thread::sleep_for(milliseconds(150));
    killed = Clock::now();
    server.kill();
  });
  try {
    loader.next();
    ADD_FAILURE() << "a batch of a dead daemon";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ECHOLINE_DAEMON_GONE);
  }
  killer.join();
  EXPECT_LT(seconds_since(killed), 1.0);
  EXPECT_THROW(loader.next(), Error);
}

TEST(Life, TheDeathIsReportedWithinASecondAlthoughBatchesAreReady) {
  ServerProcess server({"slots=100", "rows=400"});
  Loader loader("train", {.reattach = milliseconds(0), .runtime_dir = server.dir()});
  const auto read = [&] {
    for (std::uint64_t row = 0; row < 400; row += 4) {
      EXPECT_EQ(checked_rows(*loader.next()), rows_between(row, row + 4));
      std::this_thread::sleep_for(milliseconds(20));
      if (row == 8) server.kill();
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(read(), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(Life, ADaemonThatComesBackCausesOneLongWaitAndTheNextBatchIsExact) {
  ServerProcess server({"slots=4", "rows=40"});
  Loader loader("train", {.reattach = std::chrono::seconds(20), .runtime_dir = server.dir()});
  std::uint64_t row = 0;
  Batch kept;
  for (int life = 0; life < 4; ++life) {
    for (int i = 0; i < 7; ++i) {
      auto batch = loader.next();
      if (!batch) batch = loader.next();
      EXPECT_EQ(checked_rows(*batch), rows_between(row, row + 4));
      row = (row + 4) % 40;
      if (life == 0 && i == 6) kept = std::move(*batch);
    }
    server.kill();
    std::jthread starter([&] {
      std::this_thread::sleep_for(milliseconds(200));
      server.start_again();
    });
    auto batch = loader.next();
    if (!batch) batch = loader.next();
    EXPECT_EQ(checked_rows(*batch), rows_between(row, row + 4));
    row = (row + 4) % 40;
    starter.join();
  }
  EXPECT_EQ(checked_rows(kept), rows_between(24, 28));
}

TEST(Life, ADaemonThatStaysAwayIsAnErrorAfterTheReattachTime) {
  ServerProcess server({"batches_max=0"});
  Loader loader("train", {.reattach = milliseconds(300), .runtime_dir = server.dir()});
  server.kill();
  const auto start = Clock::now();
  try {
    loader.next();
    ADD_FAILURE() << "a batch of a dead daemon";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ECHOLINE_DAEMON_GONE) << error.what();
  }
  EXPECT_GE(seconds_since(start), 0.25);
  EXPECT_LT(seconds_since(start), 1.3);
}

TEST(Life, AFailedStreamSaysWhy) {
  ServerProcess server({"fail_at=2"});
  Loader loader("train", {.runtime_dir = server.dir()});
  loader.next();
  loader.next();
  try {
    loader.next();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ECHOLINE_DATA_LOSS);
    EXPECT_THAT(error.what(), HasSubstr("train-000001.tar changed"));
  }
}

TEST(Life, ATimeoutIsExactAndLosesNoBatch) {
  ServerProcess server({"batches_max=1"});
  Loader loader("train", {.runtime_dir = server.dir()});
  Batch batch;
  ASSERT_EQ(loader.next_within(milliseconds(5000), batch), ECHOLINE_OK);
  const auto start = Clock::now();
  EXPECT_EQ(loader.next_within(milliseconds(120), batch), ECHOLINE_TIMEOUT);
  EXPECT_GE(seconds_since(start), 0.119);
  EXPECT_LT(seconds_since(start), 0.5);
  EXPECT_EQ(loader.next_within(milliseconds(0), batch), ECHOLINE_TIMEOUT);
  EXPECT_EQ(checked_rows(batch), rows_between(0, 4));
}

int in_child(const std::function<int()>& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Life, AForkedChildGetsErrorsAndTheParentContinues) {
  ServerProcess server({"slots=4", "rows=400"});
  Loader loader("train", {.runtime_dir = server.dir()});
  Batch kept = *loader.next();
  const int code = in_child([&] {
    echoline_batch* batch = nullptr;
    if (echoline_next(loader.handle(), -1, &batch) != ECHOLINE_FORKED) return 1;
    if (echoline_batch_sample_ids(nullptr) != nullptr || !kept.sample_ids().empty()) {
      if (kept.sample_ids().data() != nullptr) return 2;
    }
    kept.release();
    echoline_detach(loader.handle());
    Loader own("train", {.job = "child", .runtime_dir = server.dir()});
    return 0;
  });
  // The daemon may refuse the child because its rows are gone: that must be an error, not a crash.
  EXPECT_TRUE(code == 0 || code == 134) << code;
  EXPECT_EQ(checked_rows(kept), rows_between(0, 4));
  for (std::uint64_t i = 1; i < 20; ++i) {
    EXPECT_EQ(checked_rows(*loader.next()), rows_between(i * 4, i * 4 + 4));
    if (i == 2) kept.release();
  }
}

TEST(Life, AForkedChildFaultsOnTheParentsViewsInsteadOfReadingOtherMemory) {
  ServerProcess server;
  Loader loader("train", {.runtime_dir = server.dir()});
  const Batch kept = *loader.next();
  const auto* pixels = kept.tensor<std::uint8_t>("image").data();
  const int code = in_child([&] {
    signal(SIGSEGV, SIG_DFL);
    return *static_cast<const volatile std::uint8_t*>(pixels) == 255 ? 3 : 4;
  });
#if defined(ECHOLINE_SANITIZE_ADDRESS)
  EXPECT_NE(code, 4);
#else
  EXPECT_EQ(code, 128 + SIGSEGV);
#endif
}

TEST(Life, AForkedChildDoesNotKeepADeadParentsSlots) {
  ServerProcess server({"slots=4", "rows=4000", "consumers=2"});
  Loader other("train", {.job = "other", .runtime_dir = server.dir()});
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    {
      Loader loader("train", {.runtime_dir = server.dir()});
      const Batch kept = *loader.next();
      const pid_t child = fork();
      if (child == 0) {
        sleep(20);
        _exit(0);
      }
      (void)!write(pipe_ends[1], &child, sizeof(child));
      sleep(20);
    }
    _exit(0);
  }
  // Both are attached. The other trainer reads until the parent's lease stops the daemon.
  pid_t child = 0;
  ASSERT_EQ(read(pipe_ends[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
  Batch batch;
  int read_batches = 0;
  while (other.next_within(milliseconds(200), batch) == ECHOLINE_OK) ++read_batches;
  EXPECT_EQ(read_batches, 4);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_EQ(other.next_within(milliseconds(1000), batch), ECHOLINE_OK);
  kill(child, SIGKILL);
}

TEST(Life, SeveralThreadsGetEachBatchOnce) {
  ServerProcess server({"slots=8", "rows=4000"});
  Loader loader("train", {.runtime_dir = server.dir()});
  std::mutex mutex;
  std::vector<int> seen(1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        Batch batch;
        if (loader.next_within(milliseconds(10'000), batch) != ECHOLINE_OK) return;
        const auto rows = checked_rows(batch);
        const std::lock_guard lock(mutex);
        ++seen[rows[0] / 4];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 800; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], 1);
}

TEST(Life, AReadyBatchTakesLessThanAMicrosecond) {
  ServerProcess server({"slots=256", "rows=1000000"});
  Loader loader("train", {.runtime_dir = server.dir()});
  std::vector<double> times;
  for (int round = 0; round < 40; ++round) {
    std::this_thread::sleep_for(milliseconds(5));  // let the daemon fill the ring
    for (int i = 0; i < 200; ++i) {
      const auto start = Clock::now();
      Batch batch;
      if (loader.next_within(milliseconds(5000), batch) != ECHOLINE_OK) continue;
      times.push_back(seconds_since(start) * 1e9);
    }
  }
  std::sort(times.begin(), times.end());
  const double p50 = times[times.size() / 2];
  std::printf("next() on a ready batch: p50 %.0f ns, p99 %.0f ns (clock included)\n", p50,
              times[times.size() * 99 / 100]);
#if !defined(ECHOLINE_SANITIZE_ADDRESS) && !defined(ECHOLINE_SANITIZE_THREAD) && defined(NDEBUG)
  EXPECT_LT(p50, 2000);
#endif
}

}  // namespace
}  // namespace echoline::test
