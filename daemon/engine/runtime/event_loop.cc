#include "engine/runtime/event_loop.h"

#include <chrono>
#include <future>
#include <utility>

#include "engine/runtime/worker_pool.h"

namespace echoline::engine {
namespace {

// The accuracy with which waits are charged to their causes (stats/wait_ledger.h).
constexpr std::chrono::milliseconds kTick{10};

}  // namespace

EventLoop::EventLoop(const char* name, std::function<void()> tick)
    : tick_(std::move(tick)), thread_([this, name] { loop(name); }) {}

EventLoop::~EventLoop() { stop(); }

void EventLoop::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  // Not joinable the second time: the destructor calls stop() again.
  if (thread_.joinable()) thread_.join();
}

bool EventLoop::post(std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    // The thread may be gone already, and nobody would run the task.
    if (stopping_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void EventLoop::run(const std::function<void()>& task) {
  std::promise<void> done;
  const bool own_thread = std::this_thread::get_id() == thread_.get_id();
  // References are safe: this function returns only after the task has run.
  const auto run_and_report = [&task, &done] {
    task();
    done.set_value();
  };
  // On its own thread it would wait for itself; after stop() nobody would run the task.
  if (own_thread || !post(run_and_report)) {
    task();
    return;
  }
  done.get_future().wait();
}

void EventLoop::loop(const char* name) {
  name_thread(name);
  auto next_tick = std::chrono::steady_clock::now() + kTick;
  MutexLock lock(mutex_);
  while (true) {
    // Wakes for a task, for stop(), or for the next tick, whichever is first.
    while (!stopping_ && tasks_.empty()) {
      if (!tick_) {
        changed_.wait(lock);
      } else if (!changed_.wait_until(lock, next_tick)) {
        break;
      }
    }
    // What was posted before stop() still runs: run() may be waiting for it.
    if (stopping_ && tasks_.empty()) return;
    while (!tasks_.empty()) {
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;  // what the task holds may lock on its end
      lock.lock();
    }
    // Tasks go first: a tick that is due runs when the queue is empty.
    const auto now = std::chrono::steady_clock::now();
    if (!tick_ || now < next_tick) continue;
    // From now, not from the planned time: ticks that were missed are not made up for.
    next_tick = now + kTick;
    lock.unlock();
    tick_();
    lock.lock();
  }
}

}  // namespace echoline::engine
