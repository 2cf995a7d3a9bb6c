#include "engine/runtime/worker_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace echoline::engine {
namespace {

class CallTask : public Task {
 public:
  explicit CallTask(std::function<void(std::size_t)> call) : call_(std::move(call)) {}
  void run(std::size_t worker) override { call_(worker); }

 private:
  std::function<void(std::size_t)> call_;
};

TEST(WorkerPool, RunsEveryTaskOnOneOfItsWorkers) {
  std::mutex mutex;
  std::set<std::size_t> workers;
  std::atomic<int> ran{0};
  std::promise<void> all;
  WorkerPool pool(3);
  EXPECT_EQ(pool.worker_count(), 3U);
  for (int i = 0; i < 100; ++i) {
    pool.push(std::make_shared<CallTask>([&](std::size_t worker) {
      {
        std::lock_guard lock(mutex);
        workers.insert(worker);
      }
      if (++ran == 100) all.set_value();
    }));
  }
  all.get_future().wait();
  EXPECT_LE(*workers.rbegin(), 2U);
}

TEST(WorkerPool, ATaskMayBePushedAgainByItself) {
  std::promise<void> done;
  WorkerPool pool(1);
  int turns = 0;
  std::shared_ptr<CallTask> task = std::make_shared<CallTask>([&](std::size_t) {
    if (++turns == 3) return done.set_value();
    pool.push(task);
  });
  pool.push(task);
  done.get_future().wait();
  EXPECT_EQ(turns, 3);
}

// The CPU time of this process or thread, in seconds.
double cpu_seconds(clockid_t clock = CLOCK_PROCESS_CPUTIME_ID) {
  timespec used{};
  ::clock_gettime(clock, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// Whether no other thread wanted the processor of this one for long during this time.
bool is_calm_for(std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  bool calm = true;
  for (auto now = Clock::now(), end = now + time; now < end;) {
    ::sched_yield();
    const auto begin = std::exchange(now, Clock::now());
    calm &= now - begin < std::chrono::milliseconds(1);
  }
  return calm;
}

TEST(WorkerPool, WorkersStayAwakeForATimeAndThenSleep) {
  WorkerPool pool(1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  if (!pool.keep_awake(std::chrono::seconds(1)).ok()) GTEST_SKIP() << "a limit of CPU time";
  EXPECT_TRUE(pool.keep_awake(std::chrono::seconds(0)).ok()) << "the latest end counts";
  constexpr int kMoments = 15;
  int calm = 0;
  bool awake = false;
  for (int i = 0; i < kMoments && !awake; ++i) {
    std::promise<void> done;
    pool.push(std::make_shared<CallTask>([&](std::size_t) { done.set_value(); }));
    done.get_future().wait();
    const auto of_others = [] { return cpu_seconds() - cpu_seconds(CLOCK_THREAD_CPUTIME_ID); };
    const double before = of_others();
    calm += is_calm_for(std::chrono::milliseconds(50)) ? 1 : 0;
    awake = of_others() - before > 0.01;
  }
  // A worker sleeps where other programs want the processors.
  if (!awake && calm < kMoments / 2) GTEST_SKIP() << "only " << calm << " calm moments";
  EXPECT_TRUE(awake);
  std::this_thread::sleep_until(end + std::chrono::milliseconds(50));
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(cpu_seconds() - before, 0.01);
  // A pool that is destroyed does not wait for the end of the time.
  EXPECT_TRUE(pool.keep_awake(std::chrono::seconds(60)).ok());
}

TEST(WorkerPool, WhatContinuesGoesBeforeWhatWasPushedEarlier) {
  WorkerPool pool(0);
  std::string order;
  const auto named = [&](char name) {
    return std::make_shared<CallTask>([&order, name](std::size_t) { order += name; });
  };
  pool.push(named('b'));
  pool.push(named('c'));
  pool.push_first(named('a'));
  while (pool.run_one(0)) {
  }
  EXPECT_EQ(order, "abc");
}

TEST(WorkerPool, DropsTasksThatHaveNotBegunWhenItEnds) {
  std::promise<void> begun, may_end;
  const auto dropped = std::make_shared<CallTask>([](std::size_t) { FAIL() << "ran"; });
  std::thread ending;
  {
    WorkerPool pool(1);
    pool.push(std::make_shared<CallTask>([&](std::size_t) {
      begun.set_value();
      may_end.get_future().wait();
    }));
    begun.get_future().wait();
    pool.push(dropped);
    // The worker is released once the pool's destructor has taken the waiting tasks.
    ending = std::thread([&] {
      while (dropped.use_count() > 1) std::this_thread::yield();
      may_end.set_value();
    });
  }
  ending.join();
  EXPECT_EQ(dropped.use_count(), 1);
}

}  // namespace
}  // namespace echoline::engine
