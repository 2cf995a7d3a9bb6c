#include "engine/runtime/worker_pool.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/processors.h"
#include "engine/runtime/start_threads.h"
#include "trace/recorder.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kAwakeSliceNs = 100'000;
// Another thread that runs for so long at a time keeps the processor awake itself.
constexpr std::uint64_t kTakenNs = 1'000'000;

}  // namespace

void name_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

WorkerPool::WorkerPool(std::size_t worker_count) {
  start_threads(
      threads_, worker_count, [this](std::size_t worker) { work(worker); }, [this] { stop(); });
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::stop() {
  // Dropped without the lock: a task may be the last owner of a stream, whose threads push here.
  std::deque<std::shared_ptr<Task>> dropped;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(tasks_);
  }
  dropped.clear();
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::push(std::shared_ptr<Task> task) { insert(std::move(task), false); }

void WorkerPool::push_first(std::shared_ptr<Task> task) { insert(std::move(task), true); }

void WorkerPool::insert(std::shared_ptr<Task> task, bool first) {
  {
    const MutexLock lock(mutex_);
    // The pool ends: the task is dropped, and with it what it holds.
    if (stopping_) return;
    tasks_.insert(first ? tasks_.begin() : tasks_.end(), std::move(task));
    queued_.store(tasks_.size(), std::memory_order_relaxed);
  }
  changed_.notify_one();
}

bool WorkerPool::run_one(std::size_t worker) {
  std::shared_ptr<Task> task;
  {
    // Tests and the simulation call this instead of workers.
    const MutexLock lock(mutex_);
    if (tasks_.empty()) return false;
    task = take_oldest();
  }
  run(std::move(task), worker);
  return true;
}

void WorkerPool::work(std::size_t worker) {
  name_thread("worker");
  MutexLock lock(mutex_);
  while (true) {
    trace::idle_since_ns() = trace::Recorder::any_on() && tasks_.empty() ? monotonic_ns() : 0;
    bool may_stay_awake = true;
    while (!stopping_ && tasks_.empty()) {
      if (may_stay_awake && monotonic_ns() < awake_until_ns_.load()) {
        lock.unlock();
        may_stay_awake = give_way();
        lock.lock();
      } else {
        changed_.wait(lock);
      }
    }
    if (stopping_) return;
    std::shared_ptr<Task> task = take_oldest();
    lock.unlock();
    // Without the lock: a task takes hundreds of microseconds and pushes other tasks.
    run(std::move(task), worker);
    lock.lock();
  }
}

Status WorkerPool::keep_awake(std::chrono::nanoseconds duration) {
  const std::uint32_t all = std::thread::hardware_concurrency();
  const std::uint32_t usable = usable_processors(all);
  if (usable < all) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("a control group limits the daemon to the time of {} of {} processors, which "
                    "workers that stay awake would use up",
                    usable, all));
  }
  {
    const MutexLock lock(mutex_);
    const std::uint64_t end_ns = monotonic_ns() + static_cast<std::uint64_t>(duration.count());
    awake_until_ns_.store(std::max(awake_until_ns_.load(), end_ns));
  }
  changed_.notify_all();
  return {};
}

bool WorkerPool::give_way() const {
  std::uint64_t now_ns = monotonic_ns();
  // A moment only: then a stop and the end of the time are seen.
  const std::uint64_t end_ns = now_ns + kAwakeSliceNs;
  while (queued() == 0 && now_ns < end_ns) {
    ::sched_yield();
    const std::uint64_t begin_ns = std::exchange(now_ns, monotonic_ns());
    if (now_ns - begin_ns > kTakenNs) return false;
  }
  return true;
}

std::shared_ptr<Task> WorkerPool::take_oldest() {
  std::shared_ptr<Task> task = std::move(tasks_.front());
  tasks_.pop_front();
  // Also kept outside the queue, so that metrics read it without the lock.
  queued_.store(tasks_.size(), std::memory_order_relaxed);
  running_.fetch_add(1, std::memory_order_relaxed);
  return task;
}

void WorkerPool::run(std::shared_ptr<Task> task, std::size_t worker) {
  task->run(worker);
  task.reset();  // without the lock: the task may be the last holder of its stream
  running_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace echoline::engine
