#include "engine/runtime/worker_pool.h"

#include <pthread.h>

#include <utility>

namespace echoline::engine {

void name_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

WorkerPool::WorkerPool(std::size_t worker_count) {
  threads_.reserve(worker_count);
  for (std::size_t worker = 0; worker < worker_count; ++worker) {
    threads_.emplace_back([this, worker] { work(worker); });
  }
}

WorkerPool::~WorkerPool() {
  // Dropped without the lock: a task may be the last owner of a stream, whose threads push here.
  std::deque<std::shared_ptr<Task>> dropped;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(tasks_);
  }
  dropped.clear();
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::push(std::shared_ptr<Task> task) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    tasks_.push_back(std::move(task));
    queued_.store(tasks_.size(), std::memory_order_relaxed);
  }
  changed_.notify_one();
}

bool WorkerPool::run_one(std::size_t worker) {
  std::unique_lock lock(mutex_);
  return run_oldest(lock, worker);
}

void WorkerPool::work(std::size_t worker) {
  name_thread("worker");
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    run_oldest(lock, worker);
  }
}

bool WorkerPool::run_oldest(std::unique_lock<std::mutex>& lock, std::size_t worker) {
  if (tasks_.empty()) return false;
  std::shared_ptr<Task> task = std::move(tasks_.front());
  tasks_.pop_front();
  queued_.store(tasks_.size(), std::memory_order_relaxed);
  running_.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();
  task->run(worker);
  task.reset();  // without the lock: the task may be the last holder of its stream
  lock.lock();
  running_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

}  // namespace echoline::engine
