// The CPU workers that all streams share. Tasks run in the order in which they were pushed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

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
  // Without workers (0) tasks wait for run_one.
  explicit WorkerPool(std::size_t worker_count);
  ~WorkerPool();

  void push(std::shared_ptr<Task> task);
  // Runs the oldest task on the calling thread, as worker number `worker`; false if there is none.
  bool run_one(std::size_t worker);

  std::size_t worker_count() const { return threads_.size(); }
  std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }
  std::size_t running() const { return running_.load(std::memory_order_relaxed); }

 private:
  void work(std::size_t worker);
  // With `lock` held on mutex_, which is released while the task runs.
  bool run_oldest(std::unique_lock<std::mutex>& lock, std::size_t worker);

  std::mutex mutex_;  // guards tasks_ and stopping_; no other lock is taken under it
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> tasks_;
  bool stopping_ = false;
  std::atomic<std::size_t> queued_{0};
  std::atomic<std::size_t> running_{0};
  std::vector<std::thread> threads_;
};

// Names the calling thread, as ps and top show it (15 characters at most).
void name_thread(const char* name);

}  // namespace echoline::engine
