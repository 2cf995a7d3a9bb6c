// The CPU workers that all streams share. Tasks run in the order in which they were pushed, except
// those that continue what others wait for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"

namespace echoline::engine {

// A piece of work of a few hundred microseconds, on one worker. It may be pushed again.
class Task {
 public:
  virtual ~Task() = default;
  virtual void run(std::size_t worker) = 0;
};

// Any thread may push. Destruction ends the workers; tasks that have not begun are dropped.
class WorkerPool {
 public:
  // Without workers (0) tasks wait for run_one. std::system_error: too few threads are allowed.
  explicit WorkerPool(std::size_t worker_count);
  ~WorkerPool();

  void push(std::shared_ptr<Task> task) ECHOLINE_EXCLUDES(mutex_);
  // Before all others: the task had its place in the order before, and had to wait.
  void push_first(std::shared_ptr<Task> task) ECHOLINE_EXCLUDES(mutex_);
  // Runs the oldest task on the calling thread, as worker number `worker`; false if there is none.
  bool run_one(std::size_t worker) ECHOLINE_EXCLUDES(mutex_);

  // For this long from now, workers without a task give way to other threads instead of sleeping: a
  // processor that was idle is slower for a while. Of several calls, the latest end counts.
  // kFailedPrecondition: a control group limits the CPU time, which they would use up.
  Status keep_awake(std::chrono::nanoseconds duration) ECHOLINE_EXCLUDES(mutex_);

  std::size_t worker_count() const { return threads_.size(); }
  std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }
  std::size_t running() const { return running_.load(std::memory_order_relaxed); }

 private:
  void insert(std::shared_ptr<Task> task, bool first) ECHOLINE_EXCLUDES(mutex_);
  void work(std::size_t worker);
  void stop() ECHOLINE_EXCLUDES(mutex_);
  // Instead of sleeping: lets other threads run until there is a task, or for a moment. False: one
  // of them wants the processor for longer.
  bool give_way() const ECHOLINE_EXCLUDES(mutex_);
  // The oldest task, which counts as running from now on.
  std::shared_ptr<Task> take_oldest() ECHOLINE_REQUIRES(mutex_);
  void run(std::shared_ptr<Task> task, std::size_t worker) ECHOLINE_EXCLUDES(mutex_);

  Mutex mutex_;  // no other lock is taken under it
  CondVar changed_;
  std::deque<std::shared_ptr<Task>> tasks_ ECHOLINE_GUARDED_BY(mutex_);
  bool stopping_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::atomic<std::size_t> queued_{0};
  std::atomic<std::uint64_t> awake_until_ns_{0};  // monotonic_ns
  std::atomic<std::size_t> running_{0};
  std::vector<std::thread> threads_;
};

// Names the calling thread, as ps and top show it (15 characters at most).
void name_thread(const char* name);

}  // namespace echoline::engine
